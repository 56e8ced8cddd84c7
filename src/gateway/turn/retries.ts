import type { Clock } from '../../clock.ts';
import { errorMessage, GatewayError } from '../../errors.ts';
import type { Log } from '../../log.ts';

const firstRetryMs = 1_000;
const longestRetryMs = 30_000;
/** Faults in a row, the store's own left out, after which a turn is given up. */
const maxFaults = 3;

export interface RetriesOptions {
  clock: Clock;
  log: Log;
  again(sessionKey: string): void;
}

/** Tries a session again that could not be worked on, later each time: none is stuck until somebody writes. */
export interface Retries {
  failed(sessionKey: string, error: unknown): void;
  succeeded(sessionKey: string): void;
  /** The same turn failed again and again by a fault of ours: another try would change nothing. */
  isHopeless(sessionKey: string): boolean;
}

export function createRetries({ clock, log, again }: RetriesOptions): Retries {
  const failures = new Map<string, { tries: number; faults: number }>();
  return {
    failed(session, error) {
      const code = error instanceof GatewayError ? error.code : null;
      // A platform that is switched off: its sessions wait for a start that has it.
      if (code === 'usage') return;
      const before = failures.get(session) ?? { tries: 0, faults: 0 };
      const isStores = code?.startsWith('store') ?? false;
      failures.set(session, { tries: before.tries + 1, faults: before.faults + (isStores ? 0 : 1) });
      const afterMs = Math.min(longestRetryMs, firstRetryMs * 2 ** before.tries);
      log.warn({ session, afterMs, error: errorMessage(error) }, 'a session will be tried again');
      clock.after(afterMs, () => again(session));
    },
    succeeded: (session) => void failures.delete(session),
    isHopeless: (session) => (failures.get(session)?.faults ?? 0) >= maxFaults,
  };
}
