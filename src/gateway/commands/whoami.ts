import type { Command } from './command.ts';

export const whoami: Command = {
  name: 'whoami',
  whileBusy: true,
  async run({ by, session, messages, reply }) {
    const facts = {
      name: by.name,
      id: by.id,
      platform: session.chat.platform,
      admin: by.isAdmin,
      session: session.key,
    };
    await reply(messages.commands.whoami(facts));
  },
};
