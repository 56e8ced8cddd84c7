import type { DatabaseSync } from 'node:sqlite';
import type { GatewayError } from '../../errors.ts';
import { isStorageFailure, storeError } from './open.ts';

/**
 * Runs transactions one after another and commits all that are waiting with one sync to disk. A busy gateway so
 * pays for one sync a tick, not one a message; each job still fails or holds on its own, by its savepoint.
 */
export interface GroupCommit {
  run<T>(job: (onCommit: (task: () => void) => void) => Promise<T>): Promise<T>;
  /** Why the storage last refused to keep something; null once it has kept something again. */
  failure(): GatewayError | null;
  /** Resolves when nothing waits any more. */
  idle(): Promise<void>;
}

interface Waiting {
  /** Runs the job; what it returns tells the caller, once the commit holds. */
  attempt: () => Promise<() => void>;
  reject: (error: unknown) => void;
}

export function createGroupCommit(db: DatabaseSync, path: string): GroupCommit {
  let waiting: Waiting[] = [];
  let flushing: Promise<void> | null = null;
  let failure: GatewayError | null = null;

  async function flushAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await flush(batch);
    }
    flushing = null;
  }

  async function flush(batch: readonly Waiting[]): Promise<void> {
    const settled: (() => void)[] = [];
    let refused: GatewayError | null = null;
    const onRefused = (error: GatewayError) => {
      refused = error;
    };
    try {
      db.exec('BEGIN IMMEDIATE');
      for (const entry of batch) settled.push(await runInSavepoint(entry, onRefused));
      db.exec('COMMIT');
      failure = refused;
    } catch (error) {
      failure = storeError(error, path);
      rollBack();
      for (const { reject } of batch) reject(failure);
      return;
    }
    for (const settle of settled) settle();
  }

  async function runInSavepoint(
    { attempt, reject }: Waiting,
    onRefused: (error: GatewayError) => void,
  ): Promise<() => void> {
    db.exec('SAVEPOINT job');
    try {
      const settle = await attempt();
      db.exec('RELEASE job');
      return settle;
    } catch (error) {
      // A full disk can end the whole transaction at once: nothing is left to roll back to.
      if (!db.isTransaction) throw error;
      db.exec('ROLLBACK TO job; RELEASE job');
      if (!isStorageFailure(error)) return () => reject(error);
      const refusal = storeError(error, path);
      onRefused(refusal);
      return () => reject(refusal);
    }
  }

  function rollBack(): void {
    try {
      if (db.isOpen && db.isTransaction) db.exec('ROLLBACK');
    } catch (error) {
      // The next BEGIN fails by it and says so to its callers; these have their error already.
      process.emitWarning(storeError(error, path));
    }
  }

  return {
    run<T>(job: (onCommit: (task: () => void) => void) => Promise<T>): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        const attempt = async () => {
          const tasks: (() => void)[] = [];
          const value = await job((task) => tasks.push(task));
          return () => {
            resolve(value);
            tasks.forEach(runTask);
          };
        };
        waiting.push({ attempt, reject });
        flushing ??= new Promise<void>((done) => setImmediate(() => flushAll().then(done)));
      });
    },
    failure: () => failure,
    async idle() {
      while (flushing) await flushing;
    },
  };
}

/** What was written is on disk whatever becomes of the tasks, and the transactions behind it must go on. */
function runTask(task: () => void): void {
  try {
    task();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
