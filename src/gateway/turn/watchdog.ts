import type { TurnOutcome } from '../../agent/turn.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { TurnRun } from './lanes.ts';

/** How long a turn may take to end after it was told to. */
const abandonAfterMs = 5_000;

/**
 * Runs a turn, and goes on without it when it does not end after its signal: a tool that does not heed the signal
 * must not hold the session for ever. What an abandoned run writes later is refused by its fencing token.
 */
export async function runOrAbandon(
  turn: TurnRun,
  signal: AbortSignal,
  clock: Clock,
): Promise<TurnOutcome | 'abandoned'> {
  const abandoned = Promise.withResolvers<'abandoned'>();
  let cancel: () => void = () => undefined;
  const onAbort = () => {
    cancel = clock.after(abandonAfterMs, () => abandoned.resolve('abandoned'));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([turn.run(signal), abandoned.promise]);
  } finally {
    cancel();
    signal.removeEventListener('abort', onAbort);
  }
}

/** Ends a turn that shows no sign of life for `limitMs`: activity counts, not wall time. 0 never ends it. */
export function watchActivity(
  turn: TurnRun,
  abort: AbortController,
  { limitMs, clock, log, session }: { limitMs: number; clock: Clock; log: Log; session: string },
): () => void {
  if (limitMs <= 0) return () => undefined;
  let cancel: () => void = () => undefined;
  const look = () => {
    const silentMs = clock.now() - turn.lastActivity();
    if (silentMs >= limitMs) {
      log.error({ session, silentMs }, 'a turn showed no sign of life and was ended');
      abort.abort('stalled');
    } else cancel = clock.after(limitMs - silentMs + 10, look);
  };
  cancel = clock.after(limitMs, look);
  return () => cancel();
}
