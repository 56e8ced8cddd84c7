import { rememberRestart } from '../restart.ts';
import type { Command } from './command.ts';

/** Ends the gateway after a drain, for its supervisor (systemd, Docker) to start it again. */
export const restart: Command = {
  name: 'restart',
  whileBusy: true,
  adminOnly: true,
  async run({ ports, session, messages, reply }) {
    const { requestRestart } = ports;
    if (!requestRestart) return reply(messages.commands.unknown('restart'));
    await reply(messages.turn.restarting, (tables) => rememberRestart(tables, session));
    requestRestart();
  },
};
