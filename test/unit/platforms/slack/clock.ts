import type { Clock } from '../../../../src/clock.ts';

export interface ManualClock extends Clock {
  /** Moves time and runs what became due. */
  advance(ms: number): void;
}

export function manualClock(startMs = Date.now()): ManualClock {
  let now = startMs;
  const tasks = new Set<{ at: number; task: () => void }>();
  return {
    now: () => now,
    after(delayMs, task) {
      const entry = { at: now + delayMs, task };
      tasks.add(entry);
      return () => void tasks.delete(entry);
    },
    advance(ms) {
      now += ms;
      for (const entry of [...tasks].filter(({ at }) => at <= now)) {
        tasks.delete(entry);
        entry.task();
      }
    },
  };
}
