import type { Command } from './command.ts';

/** Answers the last message again: what came after it is hidden from the model. */
export const retry: Command = {
  name: 'retry',
  whileBusy: false,
  async run({ ports, session, messages, handled, reply }) {
    const entries = await ports.store.read.entries.list(session.sessionId);
    const last = entries.findLast((entry) => entry.kind === 'user');
    const next = entries.find((entry) => last && entry.id > last.id);
    if (!last) return reply(messages.commands.nothingToRetry);
    await ports.store.transaction(async (tables) => {
      await handled(tables);
      if (next) await tables.entries.hideFrom(session.sessionId, next.id);
      await tables.sessions.update(session.key, { turn: 'running', updatedAt: ports.clock.now() });
    });
    ports.lanes.wake(session.key);
  },
};
