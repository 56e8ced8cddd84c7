import type { Command } from './command.ts';

/** Takes back the last message and what came of it in the conversation; files and commands stay as they are. */
export const undo: Command = {
  name: 'undo',
  whileBusy: false,
  async run({ ports, session, messages, reply }) {
    const entries = await ports.store.read.entries.list(session.sessionId);
    const last = entries.findLast((entry) => entry.kind === 'user');
    if (last?.kind !== 'user') return reply(messages.commands.nothingToUndo);
    await reply(messages.commands.undone(last.text.slice(0, 80)), (tables) =>
      tables.entries.hideFrom(session.sessionId, last.id),
    );
  },
};
