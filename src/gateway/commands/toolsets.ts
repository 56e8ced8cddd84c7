import type { Command } from './command.ts';

export const toolsets: Command = {
  name: 'toolsets',
  whileBusy: true,
  async run({ ports, session, messages, reply }) {
    const { names, tools } = await ports.toolsets(session);
    await reply(messages.commands.toolsets(names.map((name) => `\`${name}\``).join(', '), tools));
  },
};
