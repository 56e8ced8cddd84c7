import type { Command, CommandCall } from './command.ts';

/** How long a turn may take to end after it was told to. */
const stopWithinMs = 5_000;

export interface Stopped {
  turn: boolean;
  processes: number;
  queued: number;
}

/** Ends the turn, withdraws what waits for a decision, kills background processes, drops queued messages. */
export async function stopEverything({ ports, session }: CommandCall): Promise<Stopped> {
  const { store, lanes, decisions, clock } = ports;
  const waiting = await store.read.inbox.waiting(session.key);
  const dropped = waiting.filter((row) => row.role !== 'context').map((row) => row.id);
  await store.transaction((tables) => tables.inbox.setState(dropped, 'done'));
  const wasOpen = lanes.isRunning(session.key) || session.turn !== 'idle';
  lanes.current(session.key)?.interrupt('stopped');
  await decisions.supersede(session.key);
  lanes.wake(session.key);
  const deadline = clock.now() + stopWithinMs;
  while (lanes.isRunning(session.key) && clock.now() < deadline) {
    await new Promise<void>((resolve) => clock.after(10, resolve));
  }
  const processes = await ports.processes.kill(session.sessionId);
  return { turn: wasOpen, processes, queued: dropped.length };
}

export const stop: Command = {
  name: 'stop',
  whileBusy: true,
  async run(call) {
    const stopped = await stopEverything(call);
    const { commands } = call.messages;
    const nothing = !stopped.turn && stopped.processes === 0 && stopped.queued === 0;
    await call.reply(nothing ? commands.nothingToStop : commands.stopped(stopped));
  },
};
