import type { Clock } from '../clock.ts';
import { errorMessage } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Store, Tables } from '../store/store.ts';

const dayMs = 24 * 3_600_000;
/** Inbox, outbox and journal rows are kept this long, for dedupe and for looking things up. */
const keptMs = 7 * dayMs;

/** Forgets what is settled and older than a week. */
export async function prune(
  tables: Pick<Tables, 'inbox' | 'outbox' | 'toolRuns' | 'approvals'>,
  now: number,
): Promise<void> {
  const before = now - keptMs;
  await tables.inbox.prune(before);
  await tables.outbox.prune(before);
  await tables.toolRuns.prune(before);
  await tables.approvals.prune(before);
}

/** Prunes once a day, for a gateway that is seldom restarted. The returned function ends it. */
export function startUpkeep({ store, clock, log }: { store: Store; clock: Clock; log: Log }): () => void {
  let cancel: () => void = () => undefined;
  const arm = () => {
    cancel = clock.after(dayMs, () => {
      arm();
      store
        .transaction((tables) => prune(tables, clock.now()))
        .catch((error: unknown) => log.warn({ error: errorMessage(error) }, 'old rows could not be pruned'));
    });
  };
  arm();
  return () => cancel();
}
