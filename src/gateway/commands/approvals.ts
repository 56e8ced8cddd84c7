import type { Command } from './command.ts';

/** `/approvals`: what is always allowed. `/approvals forget ENTRY`: asks about it again. */
export const approvals: Command = {
  name: 'approvals',
  whileBusy: true,
  adminOnly: true,
  async run({ args, ports, messages, reply }) {
    const forget = /^forget\s+(?<entry>.+)$/s.exec(args)?.groups?.['entry'];
    if (forget === undefined) return reply(messages.commands.allowlist(ports.allowlist.list()));
    const found = await ports.allowlist.forget(forget);
    await reply(found ? messages.commands.forgotten(forget) : messages.commands.notFound(forget));
  },
};
