import type { DatabaseSync } from 'node:sqlite';
import type { GatewayError } from '../../errors.ts';
import { isStorageFailure, storeError } from './open.ts';

type Job<T> = (onCommit: (task: () => void) => void) => Promise<T>;

/**
 * Runs transactions one after another and commits all that are waiting with one sync to disk. A busy gateway so
 * pays for one sync a tick, not one a message; each job still fails or holds on its own, by its savepoint.
 */
export interface GroupCommit {
  run<T>(job: Job<T>): Promise<T>;
  /**
   * Runs before all that waits, in this very tick, and leaves the sync to the next commit of the others: what it
   * wrote outlives the process, but not a loss of power.
   */
  runNow<T>(job: Job<T>): Promise<T>;
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
  const waiting: Waiting[] = [];
  const urgent: Waiting[] = [];
  /** The tick of `waiting` has come. */
  let isDue = false;
  let isScheduled = false;
  let isWorking = false;
  let failure: GatewayError | null = null;
  const idleWaiters: (() => void)[] = [];

  /** The only code that opens transactions. What comes while it works is taken along. */
  async function work(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    for (;;) {
      if (urgent.length > 0) await flush(urgent.splice(0), false);
      else if (isDue && waiting.length > 0) await flush(waiting.splice(0), true);
      else break;
    }
    isWorking = false;
    isDue = false;
    if (waiting.length === 0) for (const wake of idleWaiters.splice(0)) wake();
  }

  async function flush(batch: readonly Waiting[], isSynced: boolean): Promise<void> {
    const settled: (() => void)[] = [];
    let refused: GatewayError | null = null;
    const onRefused = (error: GatewayError) => {
      refused = error;
    };
    try {
      // WAL mode: `NORMAL` writes a commit to the file without waiting for the disk (https://sqlite.org/pragma.html).
      if (!isSynced) db.exec('PRAGMA synchronous = NORMAL');
      db.exec('BEGIN IMMEDIATE');
      for (const entry of batch) settled.push(await runInSavepoint(entry, onRefused));
      db.exec('COMMIT');
      failure = refused;
    } catch (error) {
      failure = storeError(error, path);
      rollBack();
      for (const { reject } of batch) reject(failure);
      return;
    } finally {
      if (!isSynced && db.isOpen) db.exec('PRAGMA synchronous = FULL');
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

  function entryFor<T>(job: Job<T>, into: Waiting[]): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const attempt = async () => {
        const tasks: (() => void)[] = [];
        const value = await job((task) => tasks.push(task));
        return () => {
          resolve(value);
          tasks.forEach(runTask);
        };
      };
      into.push({ attempt, reject });
    });
  }

  return {
    run(job) {
      const done = entryFor(job, waiting);
      if (isScheduled || (isWorking && isDue)) return done;
      isScheduled = true;
      setImmediate(() => {
        isScheduled = false;
        isDue = true;
        void work();
      });
      return done;
    },
    runNow(job) {
      const done = entryFor(job, urgent);
      void work();
      return done;
    },
    failure: () => failure,
    async idle() {
      while (isWorking || waiting.length > 0) await new Promise<void>((resolve) => idleWaiters.push(resolve));
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
