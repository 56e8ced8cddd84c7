import type { Command } from './command.ts';

export const status: Command = {
  name: 'status',
  whileBusy: true,
  async run({ ports, session, messages, reply }) {
    const { store, clock, lanes, processes } = ports;
    await reply(
      messages.commands.status({
        session: session.sessionId,
        state: lanes.isRunning(session.key) ? 'running' : session.turn,
        queued: await store.read.inbox.countWaiting(session.key),
        pending: (await store.read.approvals.pending(session.key)).length,
        processes: processes.count(session.sessionId),
        model: ports.model(),
        uptime: duration(clock.now() - ports.startedAt),
      }),
    );
  },
};

function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
