import type { Command } from './command.ts';

export const usage: Command = {
  name: 'usage',
  whileBusy: true,
  async run({ ports, session, messages, reply }) {
    await reply(messages.commands.usage(await ports.store.read.sessions.usage(session.key)));
  },
};
