import type { ApprovalRow } from '../store/approvals.ts';
import type { Store } from '../store/store.ts';

/** Wakes code that is already running and waits in memory for a person's decision. */
export interface DecisionWaiters {
  /** Resolves once the request is settled; rejects when the signal aborts. */
  wait(id: string, signal: AbortSignal): Promise<ApprovalRow>;
  settle(row: ApprovalRow): void;
}

export function createDecisionWaiters(store: Store): DecisionWaiters {
  const waiting = new Map<string, Set<(row: ApprovalRow) => void>>();

  function add(id: string, resolve: (row: ApprovalRow) => void): () => void {
    const waiters = waiting.get(id) ?? new Set();
    waiting.set(id, waiters.add(resolve));
    return () => {
      waiters.delete(resolve);
      if (waiters.size === 0) waiting.delete(id);
    };
  }

  return {
    async wait(id, signal) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<ApprovalRow>();
      // Given up before anyone awaits it: not an error of the process.
      promise.catch(() => undefined);
      const giveUp = () => reject(signal.reason);
      const remove = add(id, resolve);
      signal.addEventListener('abort', giveUp, { once: true });
      try {
        // It may have been settled before anyone waited.
        const row = await store.read.approvals.get(id);
        return row && row.state !== 'pending' ? row : await promise;
      } finally {
        remove();
        signal.removeEventListener('abort', giveUp);
      }
    },
    settle(row) {
      for (const resolve of waiting.get(row.id) ?? []) resolve(row);
    },
  };
}
