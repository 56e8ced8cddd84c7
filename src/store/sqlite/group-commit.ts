import type { DatabaseSync } from 'node:sqlite';
import { storeError } from './open.ts';

/**
 * Runs transactions one after another and commits all that are waiting with one sync to disk. A busy gateway so
 * pays for one sync a tick, not one a message; each job still fails or holds on its own, by its savepoint.
 */
export interface GroupCommit {
  run<T>(job: (onCommit: (task: () => void) => void) => Promise<T>): Promise<T>;
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
    try {
      db.exec('BEGIN IMMEDIATE');
      for (const entry of batch) settled.push(await runInSavepoint(entry));
      db.exec('COMMIT');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      const failure = storeError(error, path);
      for (const { reject } of batch) reject(failure);
      return;
    }
    for (const settle of settled) settle();
  }

  async function runInSavepoint({ attempt, reject }: Waiting): Promise<() => void> {
    db.exec('SAVEPOINT job');
    try {
      const settle = await attempt();
      db.exec('RELEASE job');
      return settle;
    } catch (error) {
      // A full disk ends the whole transaction at once: nothing is left to roll back to.
      if (!db.isTransaction) throw error;
      db.exec('ROLLBACK TO job; RELEASE job');
      return () => reject(error);
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
            for (const task of tasks) task();
          };
        };
        waiting.push({ attempt, reject });
        flushing ??= new Promise<void>((done) => setImmediate(() => flushAll().then(done)));
      });
    },
    async idle() {
      while (flushing) await flushing;
    },
  };
}
