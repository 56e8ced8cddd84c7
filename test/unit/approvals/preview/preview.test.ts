import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detectDangerousCommand } from '../../../../src/approvals/detect.ts';
import { type PreviewExec, previewReach } from '../../../../src/approvals/preview/preview.ts';

const run = promisify(execFile);
const never = new AbortController().signal;
const asked: string[][] = [];
let folder = '';

/** Runs the program for real, in the test's folder. */
const exec: PreviewExec = async (argv, { cwd, signal }) => {
  asked.push([...argv]);
  const [file = '', ...args] = argv;
  const { stdout, stderr } = await run(file, args, { cwd: cwd ?? folder, signal });
  return { exitCode: 0, stdout, stderr };
};
const git = (...args: string[]) =>
  run('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.test', '-c', 'init.defaultBranch=main', ...args], {
    cwd: folder,
  });
const preview = (command: string, runner: PreviewExec = exec) =>
  previewReach(command, detectDangerousCommand(command, { cwd: folder }), runner, never, { cwd: folder });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'preview-'));
  asked.length = 0;
  mkdirSync(join(folder, 'build/deep'), { recursive: true });
  writeFileSync(join(folder, 'build/a.txt'), 'x'.repeat(1500));
  writeFileSync(join(folder, 'build/deep/b.log'), 'x'.repeat(500));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the preview of a deletion', () => {
  it('counts files and bytes and names the first of them', async () => {
    const found = await preview('rm -rf build');
    expect(found).toMatchObject({ files: 2, bytes: 2000 });
    expect(found?.text).toMatch(/^2 files, 2\.0 kB: /);
    expect(found?.text).toContain('build/a.txt');
  });

  it('works out a glob without a shell', async () => {
    expect(await preview('rm -rf build/*')).toMatchObject({ files: 2 });
  });

  it('searches as the command would, without its action', async () => {
    expect(await preview("find . -name '*.log' -delete")).toMatchObject({ files: 1, bytes: 500 });
  });

  it('says that nothing is there', async () => {
    expect(await preview('rm -rf nothing-here')).toMatchObject({ files: 0 });
  });

  it('deletes nothing', async () => {
    await preview('find . -delete');
    await preview('rm -rf build');
    expect(await preview('rm -rf build')).toMatchObject({ files: 2 });
    expect(asked.flat()).not.toContain('-delete');
  });
});

describe('the preview of a change of permissions', () => {
  it('counts what lies below', async () => {
    expect(await preview('chmod -R 777 build')).toMatchObject({ files: 4 });
  });
});

describe('the preview of git', () => {
  beforeEach(async () => {
    await git('init', '-q');
    writeFileSync(join(folder, 'f.txt'), '1');
    await git('add', 'f.txt');
    await git('commit', '-qm', 'first');
    writeFileSync(join(folder, 'f.txt'), '2');
    await git('commit', '-qam', 'second');
  });

  it('lists what clean would remove', async () => {
    expect((await preview('git clean -fd'))?.text).toBe('1 untracked file or folder: build/');
  });

  it('lists the commits and changes that a hard reset drops', async () => {
    writeFileSync(join(folder, 'f.txt'), '3');
    const text = (await preview('git reset --hard HEAD~1'))?.text ?? '';
    expect(text).toMatch(/^1 commit: \w+ second; 1 changed file: f\.txt$/);
  });

  it('lists changed files for checkout and restore', async () => {
    writeFileSync(join(folder, 'f.txt'), '3');
    expect((await preview('git checkout -- .'))?.text).toBe('1 changed file: f.txt');
  });

  it('lists the commits that only a deleted branch has', async () => {
    await git('checkout', '-qb', 'side');
    writeFileSync(join(folder, 'f.txt'), '4');
    await git('commit', '-qam', 'third');
    await git('checkout', '-q', 'main');
    expect((await preview('git branch -D side'))?.text).toMatch(/^1 commit on no other branch: \w+ third$/);
  });

  it('lists the commits that a forced push drops from the remote', async () => {
    await git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    await git('reset', '-q', '--hard', 'HEAD~1');
    expect((await preview('git push --force origin main'))?.text).toMatch(
      /^1 commit of origin\/main as last fetched: \w+ second$/,
    );
  });
});

describe('the preview of other commands', () => {
  const canned =
    (answers: Record<string, string>): PreviewExec =>
    async (argv) => {
      asked.push([...argv]);
      const stdout = answers[argv[0] ?? ''];
      if (stdout === undefined) throw new Error(`${argv[0]} is not there`);
      return { exitCode: 0, stdout, stderr: '' };
    };

  it('lists the processes that pkill would hit', async () => {
    expect((await preview('pkill -9 -f vite', canned({ pgrep: '12 node\n34 node\n' })))?.text).toBe(
      '2 processes: node (12), node (34)',
    );
    expect(asked[0]).toEqual(['pgrep', '-l', '-f', 'vite']);
  });

  it('lists the containers that would go', async () => {
    expect(
      (await preview('docker rm -f web', canned({ docker: 'web (Up 2 hours)\ndb (Up 2 hours)\n' })))?.text,
    ).toBe('1 container: web (Up 2 hours)');
  });

  it('counts the rows of a SQLite table, read-only', async () => {
    const database = new DatabaseSync(join(folder, 'a.db'));
    database.exec('CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)');
    const rows = database.prepare('SELECT count(*) AS n FROM t').get();
    database.close();
    const found = await preview("sqlite3 a.db 'DELETE FROM t'", canned({ sqlite3: `${rows?.['n']}\n` }));
    expect(found?.text).toBe('t has 2 rows');
    expect(asked[0]).toContain('-readonly');
  });
});

describe('a preview is not known', () => {
  it.each(['rm -rf "$DIR"', 'ssh host "rm -rf build"', 'curl https://x.test | sh', 'rm -rf /', 'ls'])(
    'for %s',
    async (command) => {
      expect(await preview(command)).toBeNull();
    },
  );

  it('when the program is missing', async () => {
    expect(await preview('pkill x', async () => Promise.reject(new Error('ENOENT')))).toBeNull();
  });

  it('after 300 ms, and the look-up is told to stop', async () => {
    let stopped = false;
    const start = performance.now();
    const found = await preview(
      'rm -rf build',
      (_argv, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            stopped = true;
            reject(new Error('stopped'));
          });
        }),
    );
    expect(found).toBeNull();
    expect(stopped).toBe(true);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
