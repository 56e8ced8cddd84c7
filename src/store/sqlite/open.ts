import { chmodSync, existsSync, renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { errorMessage, GatewayError } from '../../errors.ts';
import { migrations } from './migrations.ts';

/** How long a writer waits for another process (the CLI) to finish its short write. */
const busyTimeoutMs = 2_000;

/**
 * Opens the state database for writing, brings its schema forward and checks that it is sound. A corrupt file is
 * set aside under a name that the error tells, never overwritten.
 */
export function openWriter(path: string): DatabaseSync {
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(path, { timeout: busyTimeoutMs });
    chmodSync(path, 0o600);
    // FULL: a commit is on disk before the platform is told that its message was received.
    db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -4000',
    );
    migrate(db, path, migrations);
    return db;
  } catch (error) {
    // Closing lets go of the file, and of the transaction that a migration left open.
    db?.close();
    throw isCorruption(error) ? setAside(path, error) : storeError(error, path);
  }
}

/** Opens a second connection that sees committed state only. */
export function openReader(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
  db.exec('PRAGMA cache_size = -4000');
  return db;
}

/** Runs the steps that the database lacks, each in a transaction of its own together with its number. */
export function migrate(db: DatabaseSync, path: string, steps: readonly string[]): void {
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version > steps.length) {
    throw new GatewayError(
      'store_unavailable',
      `${path} was written by a newer version (schema ${version}, this one knows ${steps.length}).`,
      {
        mend: 'Start the newer version again, or move the file away to begin with an empty state.',
      },
    );
  }
  for (const [index, sql] of steps.entries()) {
    if (index < version) continue;
    db.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${index + 1}; COMMIT`);
  }
}

/**
 * SQLite's primary result codes that speak of the storage and not of the statement: busy, locked, read-only, I/O,
 * corrupt, full, cannot open, not a database (https://sqlite.org/rescode.html).
 */
const storageCodes: ReadonlySet<number> = new Set([5, 6, 8, 10, 11, 13, 14, 26]);
const corruptCodes: ReadonlySet<number> = new Set([11, 26]);

export function isStorageFailure(error: unknown): boolean {
  return storageCodes.has(resultCode(error));
}

function isCorruption(error: unknown): boolean {
  return corruptCodes.has(resultCode(error));
}

/** The primary result code of an error of `node:sqlite`, or 0 for any other. */
function resultCode(error: unknown): number {
  const isSqlite = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
  return isSqlite ? Number(error.errcode) & 0xff : 0;
}

function setAside(path: string, cause: unknown): GatewayError {
  const aside = `${path}.corrupt-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  return new GatewayError(
    'store_corrupt',
    `The state database is damaged (${errorMessage(cause)}). It was set aside as ${aside}.`,
    {
      mend: `Restore a backup to ${path}, try \`sqlite3 ${aside} .recover\`, or start again to begin with an empty state.`,
      cause,
    },
  );
}

/** Maps what SQLite throws to the codes that callers act on. */
export function storeError(error: unknown, path: string): GatewayError {
  if (error instanceof GatewayError) return error;
  const message = errorMessage(error);
  if (/disk is full|SQLITE_FULL|ENOSPC/i.test(message)) {
    return new GatewayError('store_full', `No space is left for ${path}.`, {
      retryable: true,
      mend: 'Free some disk space. No message is taken in until then; the platforms keep them.',
      cause: error,
    });
  }
  if (isCorruption(error)) {
    return new GatewayError('store_corrupt', `The state database ${path} is damaged (${message}).`, {
      mend: 'Stop the gateway and start it again: it sets the file aside, or tells how to repair it.',
      cause: error,
    });
  }
  return new GatewayError('store_unavailable', `The state database ${path} does not work: ${message}.`, {
    retryable: /busy|locked|I\/O/i.test(message),
    mend: 'Check that the folder exists, is writable and is not on a network share.',
    cause: error,
  });
}
