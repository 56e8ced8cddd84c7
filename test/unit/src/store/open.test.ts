import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../src/errors.ts';
import { migrations } from '../../../../src/store/sqlite/migrations.ts';
import { migrate, openWriter } from '../../../../src/store/sqlite/open.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts';

describe('opening the state database', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hermes-open-'));
    path = join(folder, 'state.db');
  });
  afterEach(() => rm(folder, { recursive: true }));

  function failure(work: () => unknown): GatewayError {
    try {
      work();
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
    throw new Error('it succeeded');
  }
  const versionOf = (db: DatabaseSync) => db.prepare('PRAGMA user_version').get()?.['user_version'];

  it('makes it readable by its owner alone', async () => {
    openWriter(path).close();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['a file that is no database', Buffer.from('this was never a database, and is longer than its header')],
    ['a database whose schema is overwritten', null],
  ])('sets aside %s, tells where, and overwrites nothing', async (_name, content) => {
    const damaged = content ?? (await damagedDatabase(path));
    await writeFile(path, damaged);
    const error = failure(() => openSqliteStore(path));
    expect(error.code).toBe('store_corrupt');
    const aside = /set aside as (?<path>\S+)\.$/.exec(error.message)?.groups?.['path'] ?? '';
    expect(await readFile(aside)).toEqual(damaged);
    expect(error.mend).toContain(aside);
    expect(existsSync(path)).toBe(false);
    await openSqliteStore(path).close();
    expect((await readdir(folder)).filter((name) => name.includes('corrupt'))).toHaveLength(1);
  });

  it('refuses a database of a newer version, and leaves it as it is', async () => {
    const db = openWriter(path);
    db.exec(`PRAGMA user_version = ${migrations.length + 1}`);
    db.close();
    const before = await readFile(path);
    const error = failure(() => openSqliteStore(path));
    expect(error.message).toContain('was written by a newer version');
    expect(error.mend).toContain('Start the newer version again');
    expect(await readFile(path)).toEqual(before);
  });

  it('says what to do when the folder cannot be written', () => {
    const error = failure(() => openWriter(join(folder, 'missing', 'state.db')));
    expect(error.code).toBe('store_unavailable');
    expect(error.mend).toContain('writable');
  });

  describe('migrations', () => {
    const steps = ['CREATE TABLE a (x)', 'ALTER TABLE a ADD COLUMN y', 'CREATE TABLE b (z)'];

    it.each([0, 1, 2, 3])('bring a database of version %i forward, with what it holds', (version) => {
      const db = new DatabaseSync(path);
      migrate(db, path, steps.slice(0, version));
      if (version > 0) db.exec(`INSERT INTO a (x) VALUES ('kept')`);
      migrate(db, path, steps);
      expect(versionOf(db)).toBe(3);
      expect(db.prepare('SELECT x, y FROM a').all()).toEqual(version > 0 ? [{ x: 'kept', y: null }] : []);
      db.close();
    });

    it('leave the database at the last whole step when one fails, and release it', () => {
      const db = new DatabaseSync(path);
      const broken = ['CREATE TABLE a (x)', 'CREATE TABLE b (x); CREATE TABLE a (again)'];
      expect(() => migrate(db, path, broken)).toThrow(/already exists/);
      db.close();
      const again = new DatabaseSync(path);
      expect(versionOf(again)).toBe(1);
      migrate(again, path, steps);
      expect(versionOf(again)).toBe(3);
      again.close();
    });

    it('weigh deaths at work as one each, which had counted four', () => {
      const old = new DatabaseSync(path);
      migrate(old, path, migrations.slice(0, 2));
      old.exec(`INSERT INTO sessions (key, session_id, chat, user_id, user_name, locale, turn, resumes, settings,
        created_at, updated_at) VALUES ('k', 's', '{}', 'u', 'u', 'en', 'running', 9, '{}', 1, 1)`);
      old.close();
      const db = openWriter(path);
      expect(db.prepare('SELECT deaths_at_work, deaths_waiting FROM sessions').get()).toEqual({
        deaths_at_work: 2,
        deaths_waiting: 0,
      });
      db.close();
    });

    it('bring a database of every released schema to the present one', () => {
      for (let version = 0; version < migrations.length; version += 1) {
        const old = new DatabaseSync(`${path}-${version}`);
        migrate(old, path, migrations.slice(0, version));
        old.close();
        const db = openWriter(`${path}-${version}`);
        expect(versionOf(db)).toBe(migrations.length);
        db.close();
      }
    });
  });
});

async function damagedDatabase(path: string): Promise<Buffer> {
  openWriter(path).close();
  const bytes = await readFile(path);
  // The header stays; the page of the schema behind it is garbage.
  return bytes.fill(0x5a, 100, 4096);
}
