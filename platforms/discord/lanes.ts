import type { Clock } from '../../src/clock.ts';
import { sleep } from '../../src/clock.ts';
import type { Log } from '../../src/log.ts';

export interface Lanes {
  /** Runs `task` after the earlier ones of this lane, again and again until it succeeds or the signal aborts. */
  add(lane: string, task: () => Promise<void>): void;
  /** Whether everything that was added is done. */
  idle(): boolean;
}

const firstRetryMs = 500;
const longestRetryMs = 30_000;
/** About ten minutes; an event that even then cannot be stored must not stop its chat for ever. */
const mostTries = 24;

/**
 * One lane a chat keeps its events in order. Discord sends an event once and takes no receipt, so an event that
 * could not be stored is held here until it can.
 */
export function createLanes(clock: Clock, log: Log, signal: AbortSignal): Lanes {
  const tails = new Map<string, Promise<void>>();

  async function untilDone(task: () => Promise<void>): Promise<void> {
    let waitMs = firstRetryMs;
    for (let tries = 1; !signal.aborted; tries += 1) {
      try {
        return await task();
      } catch (error) {
        if (tries === mostTries)
          return log.error({ err: error }, 'a Discord event could not be stored and is lost');
        log.error({ err: error, waitMs }, 'a Discord event could not be stored; trying again');
      }
      await sleep(clock, waitMs, signal).catch(() => undefined);
      waitMs = Math.min(longestRetryMs, waitMs * 2);
    }
  }

  return {
    add(lane, task) {
      const tail = (tails.get(lane) ?? Promise.resolve()).then(() => untilDone(task));
      tails.set(lane, tail);
      void tail.then(() => {
        if (tails.get(lane) === tail) tails.delete(lane);
      });
    },
    idle: () => tails.size === 0,
  };
}
