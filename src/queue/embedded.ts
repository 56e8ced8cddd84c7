import type { TurnQueue } from './turn-queue.ts';

export interface EmbeddedQueueOptions {
  /** Sessions worked on at once; others wait in the order in which they came. */
  concurrency: number;
  onError: (sessionKey: string, error: unknown) => void;
}

/** The queue of a gateway that is one process: a fair line of session keys, each in it at most once. */
export function createEmbeddedQueue({ concurrency, onError }: EmbeddedQueueOptions): TurnQueue {
  /** Whose each session is, in the order in which they came. */
  const line = new Map<string, string>();
  const running = new Map<string, string>();
  const again = new Map<string, string>();
  const share = createShare(concurrency);
  const idleWaiters: (() => void)[] = [];
  let handle: ((sessionKey: string) => Promise<void>) | null = null;

  function pump(): void {
    for (const [key, person] of line) {
      if (!handle || running.size >= concurrency) return;
      if (!share.allows(person, concurrency - running.size)) continue;
      line.delete(key);
      running.set(key, person);
      share.take(person);
      void work(key, person, handle);
    }
  }

  async function work(
    key: string,
    person: string,
    handler: (sessionKey: string) => Promise<void>,
  ): Promise<void> {
    try {
      await handler(key);
    } catch (error) {
      onError(key, error);
    }
    running.delete(key);
    share.giveBack(person);
    const next = again.get(key);
    again.delete(key);
    if (next !== undefined) line.set(key, next);
    pump();
    if (running.size === 0) for (const wake of idleWaiters.splice(0)) wake();
  }

  return {
    async enqueue(key, person = key) {
      if (running.has(key)) again.set(key, person);
      else line.set(key, person);
      pump();
    },
    start(handler) {
      handle = handler;
      pump();
    },
    async stop(graceMs) {
      handle = null;
      if (running.size === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        idleWaiters.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
    get active() {
      return running.size;
    },
    get depth() {
      return line.size + again.size;
    },
  };
}

/**
 * Who may have how much of the room. Nobody takes more than half of it, and a quarter is kept for people who have
 * nothing running.
 */
function createShare(concurrency: number) {
  const most = Math.max(1, Math.floor(concurrency / 2));
  const kept = Math.floor(concurrency / 4);
  const held = new Map<string, number>();
  return {
    allows(person: string, free: number): boolean {
      const mine = held.get(person) ?? 0;
      return mine === 0 || (mine < most && free > kept);
    },
    take: (person: string) => void held.set(person, (held.get(person) ?? 0) + 1),
    giveBack(person: string): void {
      const rest = (held.get(person) ?? 1) - 1;
      if (rest > 0) held.set(person, rest);
      else held.delete(person);
    },
  };
}
