import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../../src/log.ts';
import type { Environment } from '../../../tools/environments/environment.ts';
import type { SshOptions } from '../../../tools/environments/options.ts';
import { createSshEnvironment } from '../../../tools/environments/ssh.ts';
import { ensurePackage } from '../../support/packages.ts';
import { type PrivateSshd, startSshd } from '../../support/sshd.ts';
import { testOptions } from '../../support/terminal-options.ts';

const run = promisify(execFile);
const canRun = await ensurePackage('openssh-server');
const never = new AbortController().signal;

describe.skipIf(!canRun)('ssh (needs openssh-server)', () => {
  let sshd: PrivateSshd;
  const opened: Environment[] = [];
  let installs = 0;

  beforeAll(async () => {
    sshd = await startSshd();
  }, 60_000);
  afterAll(async () => {
    await Promise.all(opened.map((environment) => environment.close()));
    await sshd.stop();
  });

  async function open(changes: Partial<SshOptions> = {}, env: Record<string, string> = {}) {
    installs += 1;
    const base = {
      host: '127.0.0.1',
      user: userInfo().username,
      port: sshd.port,
      key: sshd.key,
      knownHosts: sshd.knownHosts,
    };
    const options = testOptions('/tmp', { ssh: { ...base, ...changes } });
    const installId = `ssh${sshd.port}x${installs}`;
    const context = { taskId: 'default', installId, log: silentLog, env };
    const environment = await createSshEnvironment(options, context);
    opened.push(environment);
    return environment;
  }

  const exec = (environment: Environment, command: string, sessionId = 's') =>
    environment.exec({ command, sessionId, timeoutMs: 20_000, signal: never });

  async function hostsFile(name: string, text: string): Promise<string> {
    const path = join(sshd.folder, name);
    await writeFile(path, text);
    return path;
  }

  test('a changed host key is refused with the line to remove', async () => {
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(sshd.folder, 'other')]);
    const other = (await readFile(join(sshd.folder, 'other.pub'), 'utf8')).split(' ').slice(0, 2).join(' ');
    const path = await hostsFile('changed', `# mine\n[127.0.0.1]:${sshd.port} ${other}\n`);
    await expect(open({ knownHosts: path, hostKeys: 'accept-new' })).rejects.toMatchObject({
      code: 'environment_refused',
      message: expect.stringContaining('is changed'),
      mend: expect.stringContaining(`sed -i '2d' ${path}`),
    });
  });

  test('an entry with a hashed name is recognised', async () => {
    const path = await hostsFile('hashed', await readFile(sshd.knownHosts, 'utf8'));
    await run('ssh-keygen', ['-H', '-f', path]);
    expect(await readFile(path, 'utf8')).toMatch(/^\|1\|/);
    expect((await exec(await open({ knownHosts: path }), 'echo in')).stdout).toBe('in\n');
  });

  test('an unknown host is refused, unless new ones are accepted and remembered', async () => {
    const path = await hostsFile('empty', '');
    await expect(open({ knownHosts: path })).rejects.toMatchObject({
      code: 'environment_refused',
      mend: expect.stringContaining('ssh-keyscan'),
    });
    await open({ knownHosts: path, hostKeys: 'accept-new' });
    expect(await readFile(path, 'utf8')).toContain(sshd.hostKey);
    await open({ knownHosts: path });
  });

  test('a key that may not log in is refused with the mend', async () => {
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(sshd.folder, 'stranger')]);
    await expect(open({ key: join(sshd.folder, 'stranger') })).rejects.toMatchObject({
      code: 'environment_refused',
      mend: expect.stringContaining('authorized_keys'),
    });
  });

  test('a key with a passphrase works with it, and says so without', async () => {
    const { protectedKey: key, passphrase } = sshd;
    expect((await exec(await open({ key, passphrase }), 'echo in')).stdout).toBe('in\n');
    await expect(open({ key })).rejects.toMatchObject({
      mend: expect.stringContaining('TERMINAL_SSH_PASSPHRASE'),
    });
  });

  test('without a key the agent is asked', async () => {
    const socket = join(sshd.folder, 'agent.sock');
    const { stdout } = await run('ssh-agent', ['-a', socket]);
    const pid = Number(/SSH_AGENT_PID=(\d+)/.exec(stdout)?.[1]);
    try {
      await run('ssh-add', [sshd.key], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
      const environment = await open({ key: '' }, { SSH_AUTH_SOCK: socket });
      expect((await exec(environment, 'echo in')).stdout).toBe('in\n');
    } finally {
      process.kill(pid);
    }
    await expect(open({ key: '' })).rejects.toMatchObject({ mend: expect.stringContaining('SSH_AUTH_SOCK') });
  });

  test('a jump host is gone through', async () => {
    const environment = await open({ jump: `${userInfo().username}@127.0.0.1:${sshd.port}` });
    expect((await exec(environment, 'echo through')).stdout).toBe('through\n');
  });

  test('a port where nobody listens is unreachable, and may be tried again', async () => {
    await expect(open({ port: 1 })).rejects.toMatchObject({
      code: 'environment_unavailable',
      retryable: true,
    });
  });

  test('fifty sessions at once share one connection', async () => {
    const environment = await open();
    const children = async () => (await run('pgrep', ['-f', `sshd: .*@notty`])).stdout.split('\n').length;
    await exec(environment, 'true');
    const before = await children();
    const outputs = await Promise.all(
      Array.from({ length: 50 }, (_, index) => exec(environment, `echo ${index}`, `session-${index}`)),
    );
    expect(outputs.map(({ stdout }) => stdout)).toEqual(outputs.map((_, index) => `${index}\n`));
    expect(await children()).toBe(before);
  });

  test('more background processes than channels leave room for commands', async () => {
    const environment = await open();
    const started = await Promise.all(
      Array.from({ length: 12 }, () =>
        environment.spawn({ command: 'sleep 300', sessionId: 's', pty: false }),
      ),
    );
    expect((await exec(environment, 'echo free')).stdout).toBe('free\n');
    expect((await Promise.all(started.map((process) => process.kill()))).flat()).toEqual([]);
  });

  test('a lost connection is reported, and the next command goes on where the session was', async () => {
    const environment = await open();
    await exec(environment, `cd ${sshd.folder}; export KEPT=yes`);
    const running = exec(environment, 'touch running; sleep 30');
    const reported = expect(running).rejects.toMatchObject({
      code: 'environment_unavailable',
      retryable: false,
      message: expect.stringContaining('whether it ended is unknown'),
    });
    await vi.waitUntil(
      () =>
        readFile(join(sshd.folder, 'running')).then(
          () => true,
          () => false,
        ),
      10_000,
    );
    await sshd.dropConnections();
    await reported;
    expect((await exec(environment, 'echo "$KEPT $PWD"')).stdout).toBe(`yes ${sshd.folder}\n`);
  });

  test('a background process goes on over a lost connection, with all of its output', async () => {
    const environment = await open();
    const go = join(sshd.folder, 'go');
    const command = `echo one; until [ -e ${go} ]; do sleep 0.1; done; echo two; exit 5`;
    const process = await environment.spawn({ command, sessionId: 's', pty: false });
    let seen = '';
    process.onOutput((text) => {
      seen += text;
    });
    await vi.waitUntil(() => seen.includes('one'), 10_000);
    await sshd.dropConnections();
    await vi.waitUntil(() => seen.includes('The connection was lost'), 10_000);
    await writeFile(go, '');
    expect(await process.exited).toBe(5);
    expect(seen.replace(/\n\[The connection.*\]\n/, '')).toBe('one\ntwo\n');
  }, 40_000);

  test('shell state of a killed gateway is removed by the next one', async () => {
    const installId = `ssh${sshd.port}x${installs + 1}`;
    // Of this machine, and of a process that is none.
    const machine = createHash('sha256').update(hostname()).digest('hex').slice(0, 6);
    const left = `/tmp/.hermes-${installId}-${machine}-${2 ** 22 + 1}-1-abc`;
    const foreign = `/tmp/.hermes-${installId}-000000-${2 ** 22 + 1}-1-abc`;
    await mkdir(left);
    await mkdir(foreign);
    await open();
    expect(await readdir('/tmp')).not.toContain(basename(left));
    expect(await readdir('/tmp')).toContain(basename(foreign));
    await rmdir(foreign);
  });
});
