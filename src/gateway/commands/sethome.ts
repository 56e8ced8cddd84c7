import type { Command } from './command.ts';

export const sethome: Command = {
  name: 'sethome',
  whileBusy: true,
  async run({ ports, session, messages, reply }) {
    await ports.setHome(session);
    await reply(messages.commands.homeSet);
  },
};
