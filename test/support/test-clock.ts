import type { Clock } from '../../src/clock.ts';

/** Time that a test moves. Tasks run in the order of their times, and what they start may set further ones. */
export interface TestClock extends Clock {
  /** Moves on by `ms`; promises settle between two tasks. */
  advance(ms: number): Promise<void>;
}

export function createTestClock(start = 1_000_000): TestClock {
  let now = start;
  const tasks = new Set<{ at: number; run: () => void }>();
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

  return {
    now: () => now,
    after(delayMs, run) {
      const task = { at: now + Math.max(0, delayMs), run };
      tasks.add(task);
      return () => void tasks.delete(task);
    },
    async advance(ms) {
      const end = now + ms;
      await settle();
      for (;;) {
        const next = [...tasks].sort((a, b) => a.at - b.at)[0];
        if (next === undefined || next.at > end) break;
        tasks.delete(next);
        now = Math.max(now, next.at);
        next.run();
        await settle();
      }
      now = end;
    },
  };
}
