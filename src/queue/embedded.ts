import type { TurnQueue } from './turn-queue.ts';

export interface EmbeddedQueueOptions {
  /** Sessions worked on at once; others wait in the order in which they came. */
  concurrency: number;
  onError: (sessionKey: string, error: unknown) => void;
}

/** The queue of a gateway that is one process: a fair line of session keys, each in it at most once. */
export function createEmbeddedQueue({ concurrency, onError }: EmbeddedQueueOptions): TurnQueue {
  const line = new Set<string>();
  const running = new Set<string>();
  const again = new Set<string>();
  const idleWaiters: (() => void)[] = [];
  let handle: ((sessionKey: string) => Promise<void>) | null = null;

  function pump(): void {
    for (const key of line) {
      if (!handle || running.size >= concurrency) return;
      line.delete(key);
      running.add(key);
      void work(key, handle);
    }
  }

  async function work(key: string, handler: (sessionKey: string) => Promise<void>): Promise<void> {
    try {
      await handler(key);
    } catch (error) {
      onError(key, error);
    }
    running.delete(key);
    if (again.delete(key)) line.add(key);
    pump();
    if (running.size === 0) for (const wake of idleWaiters.splice(0)) wake();
  }

  return {
    async enqueue(key) {
      if (running.has(key)) again.add(key);
      else line.add(key);
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
