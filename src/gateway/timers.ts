import type { Clock } from '../clock.ts';
import { errorMessage } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import type { TimerRow } from '../store/timers.ts';

const retryMs = 5_000;

export interface TimersOptions {
  store: Store;
  clock: Clock;
  log: Log;
  /** Carries one out. It must be safe to do twice: a crash may come before the row is cleared. */
  fire(row: TimerRow): Promise<void>;
}

/** Fires stored timers when they are due, however often the process was restarted in between. */
export interface Timers {
  start(): Promise<void>;
  /** A timer was set for `dueAt`: look again by then. */
  expect(dueAt: number): void;
  stop(): void;
}

export function createTimers({ store, clock, log, fire }: TimersOptions): Timers {
  let cancel: (() => void) | null = null;
  let armedFor = Number.POSITIVE_INFINITY;
  let stopped = false;

  function arm(dueAt: number): void {
    if (stopped || dueAt >= armedFor) return;
    cancel?.();
    armedFor = dueAt;
    cancel = clock.after(Math.max(0, dueAt - clock.now()), () => void work());
  }

  async function work(): Promise<void> {
    armedFor = Number.POSITIVE_INFINITY;
    try {
      const due = await store.read.timers.due(clock.now());
      // Side by side, so that what piled up while no gateway ran shares a few commits.
      const outcomes = await Promise.allSettled(due.map(carryOut));
      const failure = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failure) throw failure.reason;
      const next = await store.read.timers.nextDueAt();
      if (next !== null) arm(next);
    } catch (error) {
      log.error({ error: errorMessage(error) }, 'a timer could not be carried out; trying again');
      arm(clock.now() + retryMs);
    }
  }

  async function carryOut(row: TimerRow): Promise<void> {
    await fire(row);
    await store.transaction((tables) => tables.timers.clear(row.id));
  }

  return {
    start: work,
    expect: arm,
    stop() {
      stopped = true;
      cancel?.();
    },
  };
}
