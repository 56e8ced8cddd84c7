import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createGroupCommit, type GroupCommit } from '../../../../src/store/sqlite/group-commit.ts';

describe('group commit', () => {
  let folder: string;
  let db: DatabaseSync;
  let commits: GroupCommit;
  const insert = (value: number) => commits.run(async () => db.exec(`INSERT INTO kept VALUES (${value})`));
  const kept = () =>
    db
      .prepare('SELECT value FROM kept ORDER BY value')
      .all()
      .map((row) => row['value']);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hermes-commit-'));
    const path = join(folder, 'state.db');
    db = new DatabaseSync(path);
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE kept (value INTEGER)');
    commits = createGroupCommit(db, path);
  });
  afterEach(async () => {
    await commits.idle();
    db.close();
    await rm(folder, { recursive: true });
  });

  it('rolls a failing job back alone', async () => {
    const bad = commits.run(async () => {
      db.exec('INSERT INTO kept VALUES (2)');
      throw new Error('second thoughts');
    });
    const results = await Promise.allSettled([insert(1), bad, insert(3)]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(kept()).toEqual([1, 3]);
    expect(commits.failure()).toBeNull();
  });

  it('rejects every job and leaves no trace when the commit itself fails', async () => {
    db.exec(`PRAGMA foreign_keys = ON; CREATE TABLE parents (id INTEGER PRIMARY KEY);
      CREATE TABLE children (parent INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED)`);
    const tasks: string[] = [];
    const one = commits.run(async (onCommit) => {
      db.exec('INSERT INTO kept VALUES (1)');
      onCommit(() => tasks.push('one'));
    });
    const orphan = commits.run(async () => db.exec('INSERT INTO children VALUES (99)'));
    const results = await Promise.allSettled([one, orphan]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
    expect(kept()).toEqual([]);
    expect(tasks).toEqual([]);
    await insert(4);
    expect(kept()).toEqual([4]);
  });

  it('goes on when a task that waited for the commit throws', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    await commits.run(async (onCommit) => {
      onCommit(() => {
        throw new Error('a fault of the task');
      });
      db.exec('INSERT INTO kept VALUES (1)');
    });
    await insert(2);
    expect(kept()).toEqual([1, 2]);
    expect(warn).toHaveBeenCalledOnce();
    warn.mockRestore();
  });

  it('says that the disk is full until something could be kept again', async () => {
    const pages = Number(db.prepare('PRAGMA page_count').get()?.['page_count']);
    db.exec(`PRAGMA max_page_count = ${pages}`);
    const big = () => commits.run(async () => db.exec(`CREATE TABLE more AS SELECT hex(randomblob(9000))`));
    await expect(big()).rejects.toMatchObject({ code: 'store_full', retryable: true });
    expect(commits.failure()?.code).toBe('store_full');
    db.exec('PRAGMA max_page_count = 1000000');
    await big();
    expect(commits.failure()).toBeNull();
  });
});
