import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockHome, lockToken } from '../../../../src/gateway/locks.ts';

describe('a lock', () => {
  let home: string;
  let path: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'hermes-locks-'));
    path = join(home, 'gateway.pid');
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  /** A process that holds the home's lock until it is killed. */
  async function holder() {
    const script = `import { lockHome } from ${JSON.stringify(new URL('../../../../src/gateway/locks.ts', import.meta.url).href)};
      lockHome(${JSON.stringify(home)}); process.stdout.write('held'); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const kill = async () => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    };
    return { pid: child.pid, kill };
  }

  it('is refused while its owner lives, with the pid and what to do', async () => {
    const { pid, kill } = await holder();
    try {
      expect(() => lockHome(home)).toThrow(`A gateway already runs on ${home} (pid ${pid}).`);
    } finally {
      await kill();
    }
  });

  it('is void once its owner was killed', async () => {
    const { kill } = await holder();
    await kill();
    lockHome(home).release();
  });

  it('is void when another process has the pid of its owner now', async () => {
    await writeFile(path, JSON.stringify({ pid: process.ppid, startedAt: '1' }));
    lockHome(home).release();
  });

  it('is void when its owner died while it wrote it', async () => {
    await writeFile(path, '{"pid": 12');
    lockHome(home).release();
  });

  it('is readable by its owner alone, and holds no token', async () => {
    const lock = lockHome(home);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: process.pid });
    lock.release();
    lockToken('telegram', `secret-${process.pid}`).release();
  });

  it('says which file cannot be written, and what to do', () => {
    expect(() => lockHome(join(home, 'missing'))).toThrow(
      expect.objectContaining({ code: 'store_unavailable', mend: expect.stringContaining('HERMES_HOME') }),
    );
  });
});
