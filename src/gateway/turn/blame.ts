import type { Blame, SessionRow } from '../../store/sessions.ts';
import type { Tables } from '../../store/store.ts';

/**
 * Which message kills the process? Only turns that were worked on at the moment of a death are blamed for it, and in
 * two ways. A death in the middle of its work (its tool ran, its file was taken in) points at the message: it counts
 * until the turn ends, since a message that gets its fatal tool run again and again makes progress in between. A
 * death while it waited for the model may be anyone's, so it counts only until something of the turn is stored: a
 * long turn on a machine that is killed often for other reasons comes to its end all the same.
 */
export const noBlame: Blame = { atWork: 0, waiting: 0 };

const maxDeathsAtWork = 3;
/** A turn is resumed so often at most without any progress in between. */
const maxResumes = 3;
/** Two deaths: it is worked on alone from now on, so that nothing beside it is blamed for the next. */
const suspectFrom = 2;

export function isSuspect({ atWork, waiting }: Blame): boolean {
  return atWork >= suspectFrom || waiting >= suspectFrom;
}

/** The message is set aside, and its chat told. */
export function isGuilty({ atWork, waiting }: Blame): boolean {
  return atWork >= maxDeathsAtWork || waiting > maxResumes;
}

/** The blame of a session after a death of the process that held its lease. */
export async function blameAfterDeath(session: SessionRow, read: Tables): Promise<Blame> {
  const { atWork, waiting } = session.blame;
  if (session.turn === 'idle') {
    const wasTakingIn = (await read.inbox.countWaiting(session.key)) > 0;
    return wasTakingIn ? { atWork: atWork + 1, waiting } : session.blame;
  }
  const wasWorking = await read.toolRuns.hasOpen(session.sessionId);
  return wasWorking ? { atWork: atWork + 1, waiting } : { atWork, waiting: waiting + 1 };
}
