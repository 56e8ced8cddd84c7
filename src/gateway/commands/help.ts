import type { Command } from './command.ts';

export const help: Command = {
  name: 'help',
  whileBusy: true,
  async run({ messages, reply }) {
    const lines = Object.entries(messages.commands.about).map(([name, about]) => `/${name} — ${about}`);
    await reply([messages.commands.help, '', ...lines].join('\n'));
  },
};
