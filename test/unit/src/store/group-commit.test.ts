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

  describe('what cannot wait', () => {
    const note = (value: number) => commits.runNow(async () => db.exec(`INSERT INTO kept VALUES (${value})`));
    /** Seen by another connection, so committed. */
    function committed(): unknown[] {
      const other = new DatabaseSync(join(folder, 'state.db'), { readOnly: true });
      const rows = other.prepare('SELECT value FROM kept ORDER BY rowid').all();
      other.close();
      return rows.map((row) => row['value']);
    }
    const synchronous = () => db.prepare('PRAGMA synchronous').get()?.['synchronous'];

    it('is committed before the tick is over, ahead of what waits for the next', async () => {
      const later = insert(1);
      const noted = note(2).then(committed);
      const atOnce = await Promise.race([noted, new Promise((resolve) => setImmediate(resolve, 'too late'))]);
      expect(atOnce).toEqual([2]);
      await later;
      expect(committed()).toEqual([2, 1]);
    });

    it('does not wait for the disk, and the next commit does again', async () => {
      db.exec('PRAGMA synchronous = FULL');
      const levels: unknown[] = [];
      await commits.runNow(async () => levels.push(synchronous()));
      await commits.run(async () => levels.push(synchronous()));
      expect(levels).toEqual([1, 2]);
    });

    it('strands nothing that comes while it is being written', async () => {
      let within: Promise<unknown>[] = [];
      await commits.runNow(async () => {
        within = [insert(1), note(2)];
      });
      await Promise.all(within);
      await commits.idle();
      expect(kept()).toEqual([1, 2]);
    });

    it('fails alone', async () => {
      const results = await Promise.allSettled([
        insert(1),
        commits.runNow(() => Promise.reject(new Error('second thoughts'))),
        note(2),
      ]);
      expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(kept()).toEqual([1, 2]);
      expect(synchronous()).toBe(2);
    });
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
