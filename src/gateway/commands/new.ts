import { resetSession } from '../turn/intake.ts';
import type { Command } from './command.ts';
import { stopEverything } from './stop.ts';

const run: Command['run'] = async (call) => {
  const { ports, session, messages, reply } = call;
  await stopEverything(call);
  await reply(messages.commands.fresh, (tables) =>
    resetSession(tables, session.key, 'new', ports.clock.now()),
  );
  await ports.forgetSession(session.sessionId);
};

export const fresh: Command = { name: 'new', whileBusy: true, run };
export const reset: Command = { name: 'reset', whileBusy: true, run };
