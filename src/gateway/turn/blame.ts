import type { SessionRow } from '../../store/sessions.ts';
import type { Tables } from '../../store/store.ts';

/**
 * Which message kills the process? A death in the middle of its work (its tool ran, its file was taken in) points
 * at it; a death while it waited for the model seldom does, and a session that was not worked on is not blamed.
 */
const working = 4;
const waiting = 1;

/** Two deaths at its work: it is worked on alone from now on, so that nothing beside it is blamed for the next. */
export const suspectFrom = 2 * working;
/** Three deaths at its work: the message is set aside, and its chat told. */
export const guiltyFrom = 3 * working;

/** What a death of the process adds to the blame of a session that it held the lease of. */
export async function blameFor(session: SessionRow, read: Tables): Promise<number> {
  const wasWorking =
    session.turn === 'idle'
      ? (await read.inbox.countWaiting(session.key)) > 0
      : await read.toolRuns.hasOpen(session.sessionId);
  return wasWorking ? working : waiting;
}
