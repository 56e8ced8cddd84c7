import type { ApprovalRow } from '../store/approvals.ts';
import type { Store } from '../store/store.ts';

/** Wakes code that is already running and waits in memory for a person's decision. */
export interface DecisionWaiters {
  /** Resolves once the request is settled; rejects when the signal aborts. */
  wait(id: string, signal: AbortSignal): Promise<ApprovalRow>;
  settle(row: ApprovalRow): void;
}

export function createDecisionWaiters(store: Store): DecisionWaiters {
  const waiting = new Map<string, ((row: ApprovalRow) => void)[]>();
  return {
    async wait(id, signal) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<ApprovalRow>();
      waiting.set(id, [...(waiting.get(id) ?? []), resolve]);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      // It may have been settled before anyone waited.
      const row = await store.read.approvals.get(id);
      if (row && row.state !== 'pending') resolve(row);
      return promise.finally(() => waiting.delete(id));
    },
    settle(row) {
      for (const resolve of waiting.get(row.id) ?? []) resolve(row);
    },
  };
}
