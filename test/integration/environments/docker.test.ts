import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../../src/log.ts';
import { createDockerEnvironment, reapDocker } from '../../../tools/environments/docker.ts';
import { labels, planContainer } from '../../../tools/environments/docker-container.ts';
import type { Environment } from '../../../tools/environments/environment.ts';
import { busyboxImage, type PrivateDocker, startDocker } from '../../support/docker.ts';
import { ensurePackage } from '../../support/packages.ts';
import { type OptionChanges, testOptions } from '../../support/terminal-options.ts';
import { recordingLog } from '../../unit/tools/support/log.ts';

const canRun =
  process.getuid?.() === 0 && (await ensurePackage('docker.io')) && (await ensurePackage('busybox-static'));
const never = new AbortController().signal;

const contextOf = (installId = 'mine', env: Record<string, string> = {}) => ({
  taskId: 'task:1',
  installId,
  log: silentLog,
  env,
});

const exec = (environment: Environment, command: string, timeoutMs = 20_000) =>
  environment.exec({ command, sessionId: 's', timeoutMs, signal: never });

test('an engine that never answers fails by its deadline and holds up nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hung-engine-'));
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(join(folder, 'sock'), resolve));
  const options = testOptions(folder, {
    docker: { image: 'x', host: `unix://${folder}/sock` },
    container: { persistent: false },
  });
  let beats = 0;
  const timer = setInterval(() => {
    beats += 1;
  }, 100);
  const from = Date.now();
  await expect(createDockerEnvironment(options, contextOf())).rejects.toMatchObject({
    code: 'environment_unavailable',
    message: expect.stringContaining('did not answer within'),
  });
  clearInterval(timer);
  expect(beats).toBeGreaterThan((Date.now() - from) / 200);
  server.close();
  await rm(folder, { recursive: true });
}, 90_000);

test('an engine that is not there is told with the mend', async () => {
  const options = testOptions('/tmp', {
    docker: { image: 'x', host: 'unix:///nowhere/docker.sock' },
    container: { persistent: false },
  });
  await expect(createDockerEnvironment(options, contextOf())).rejects.toMatchObject({
    code: 'environment_unavailable',
    retryable: true,
    mend: expect.stringContaining('Start Docker'),
  });
});

test('volumes that are relative or would undo the isolation are skipped with a warning', async () => {
  const { log, lines } = recordingLog();
  const volumes = ['data:/data', 'relative/path:/x', '/var/run/docker.sock:/s', '/:/host', '/srv/x:/x:ro'];
  const options = testOptions('/tmp', { docker: { image: 'x', volumes }, container: { persistent: false } });
  const plan = await planContainer(options, { ...contextOf(), log });
  expect(plan.body.HostConfig?.Binds).toEqual(['data:/data', '/srv/x:/x:ro']);
  expect(plan.reachesHost).toBe(true);
  expect(lines.filter((line) => line.includes('skipped'))).toHaveLength(3);
});

test('an unknown extra argument is refused by name', async () => {
  const options = testOptions('/tmp', { docker: { image: 'x', extraArgs: ['--privileged'] } });
  await expect(planContainer(options, contextOf())).rejects.toThrow('--privileged');
});

describe.skipIf(!canRun)('docker (needs docker.io and busybox-static, as root)', () => {
  let docker: PrivateDocker;
  let sandboxes: string;
  const opened: Environment[] = [];

  beforeAll(async () => {
    docker = await startDocker();
    sandboxes = await mkdtemp(join(tmpdir(), 'docker-sandboxes-'));
  }, 120_000);
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((environment) => environment.close()));
  }, 60_000);
  afterAll(async () => {
    await docker.stop();
    await rm(sandboxes, { recursive: true });
  }, 60_000);

  const optionsWith = (changes: OptionChanges = {}) =>
    testOptions(sandboxes, {
      ...changes,
      docker: { image: busyboxImage, host: docker.host, ...changes.docker },
      container: { persistent: false, ...changes.container },
    });

  async function open(changes: OptionChanges = {}, context = contextOf()) {
    const environment = await createDockerEnvironment(optionsWith(changes), context);
    opened.push(environment);
    return environment;
  }

  const containers = () => docker.client.listContainers({ all: true });

  test('the container is hardened', async () => {
    const environment = await open();
    const [{ Id = '' } = {}] = await containers();
    const { HostConfig: host } = await docker.client.getContainer(Id).inspect();
    expect(host).toMatchObject({
      Init: true,
      CapDrop: ['ALL'],
      CapAdd: ['DAC_OVERRIDE', 'CHOWN', 'FOWNER'],
      SecurityOpt: ['no-new-privileges'],
      PidsLimit: 256,
      NetworkMode: 'none',
      Memory: 512 * 1024 * 1024,
    });
    const seen = await exec(
      environment,
      'grep -c : /proc/net/dev; grep NoNewPrivs /proc/self/status; touch /run/x && sh /run/x',
    );
    expect(seen.stdout).toMatch(/^1\nNoNewPrivs:\s+1\n/);
    expect(environment.isolated).toBe(true);
  });

  test('only forwarded variables enter, and none is stored in the container', async () => {
    const environment = await open(
      { docker: { forwardEnv: ['WANTED'], env: { GIVEN: 'g' } } },
      contextOf('mine', { WANTED: 'w', API_KEY: 'secret' }),
    );
    expect((await exec(environment, 'echo "$WANTED $GIVEN ${API_KEY-none}"')).stdout).toBe('w g none\n');
    const [{ Id = '' } = {}] = await containers();
    const { Config: config } = await docker.client.getContainer(Id).inspect();
    expect(JSON.stringify(config)).not.toContain('GIVEN');
  });

  test('files of a persistent sandbox outlive it, and the container is used again', async () => {
    const keep = { container: { persistent: true } };
    await exec(await open(keep), 'echo kept >/workspace/note');
    const first = (await containers())[0]?.Id;
    await opened.pop()?.close();
    const again = await open(keep);
    expect((await containers()).map(({ Id }) => Id)).toEqual([first]);
    expect((await exec(again, 'cat /workspace/note')).stdout).toBe('kept\n');
    await docker.client.getContainer(first ?? '').remove({ force: true });
  });

  test('a container that was removed is made anew, and the result says so', async () => {
    const environment = await open();
    await exec(environment, 'export LOST=1; cd /tmp');
    const [{ Id = '' } = {}] = await containers();
    await docker.client.getContainer(Id).remove({ force: true });
    const next = await exec(environment, 'echo "${LOST-gone} $PWD"');
    expect(next).toMatchObject({ stdout: 'gone /workspace\n', recreated: true });
    expect((await exec(environment, 'true')).recreated).toBeUndefined();
  });

  test('an image that cannot be had is told with the mend', async () => {
    await expect(open({ docker: { image: 'registry.invalid/none:1' } })).rejects.toMatchObject({
      code: 'environment_unavailable',
      mend: expect.stringContaining('terminal.docker_image'),
    });
  });

  test('an engine that stops is reported by the command, and used again once it is back', async () => {
    const environment = await open();
    const running = exec(environment, 'touch /workspace/up; sleep 60', 50_000);
    // Killed with its container, or cut off from it, whichever is seen first; never an exit code of its own.
    const ended = running.then(
      ({ exitCode }) => exitCode,
      (error) => error.code,
    );
    await vi.waitUntil(async () => (await environment.files.stat('/workspace/up')) !== null, 10_000);
    await docker.stopEngine();
    expect([137, 'environment_unavailable']).toContain(await ended);
    await docker.start();
    expect((await exec(environment, 'echo back')).stdout).toBe('back\n');
  }, 90_000);

  test('the reaper removes what a killed gateway left, and nothing of another installation', async () => {
    const other = await open({}, contextOf('other'));
    const script = `
      const { createDockerEnvironment } = await import(${JSON.stringify(new URL('../../../tools/environments/docker.ts', import.meta.url).href)});
      const { silentLog } = await import(${JSON.stringify(new URL('../../../src/log.ts', import.meta.url).href)});
      await createDockerEnvironment(${JSON.stringify(optionsWith())}, { ...${JSON.stringify({ taskId: 'killed', installId: 'mine', env: {} })}, log: silentLog });
      console.log('open');
      setInterval(() => {}, 1000);`;
    const gateway = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => gateway.stdout.once('data', resolve));
    const ended = new Promise((resolve) => gateway.once('exit', resolve));
    gateway.kill('SIGKILL');
    await ended;
    const removed = await reapDocker(optionsWith(), contextOf());
    expect(removed).toEqual([expect.stringContaining('hermes-mine-killed')]);
    const left = (await containers()).map(({ Labels }) => Labels[labels.install]);
    expect(left).toEqual(['other']);
    expect((await exec(other, 'echo untouched')).stdout).toBe('untouched\n');
  });

  test('the reaper is not misled by a pid that is in use again', async () => {
    const made = await docker.client.createContainer({
      name: 'hermes-mine-reused',
      Image: busyboxImage,
      Cmd: ['sh'],
      Labels: {
        [labels.install]: 'mine',
        [labels.persistent]: 'false',
        [labels.owner]: `${process.pid}-1`,
      },
    });
    const mine = await open();
    expect(await reapDocker(optionsWith(), contextOf())).toEqual(['hermes-mine-reused']);
    await expect(made.inspect()).rejects.toMatchObject({ statusCode: 404 });
    expect((await exec(mine, 'echo untouched')).stdout).toBe('untouched\n');
  });
});
