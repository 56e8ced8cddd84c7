import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { sleep, systemClock } from '../../../../src/clock.ts';
import { ensureContainer, planContainer } from '../../../../tools/environments/docker-container.ts';
import { openEngine } from '../../../../tools/environments/docker-engine.ts';
import { createPullText, ensureImage } from '../../../../tools/environments/docker-image.ts';
import { type FakeEngine, startFakeEngine } from '../../../support/fake-engine.ts';
import { testOptions } from '../../../support/terminal-options.ts';
import { recordingLog } from '../support/log.ts';

let engine: FakeEngine;

beforeAll(async () => {
  engine = await startFakeEngine('podman/podman.sock');
});
afterEach(() => {
  engine.images.clear();
  engine.created.length = 0;
});
afterAll(async () => {
  await engine.stop();
  expect(engine.violations).toEqual([]);
});

const client = () => openEngine(engine.host, {});

/** What a registry's layers look like on the way (Engine API: ImageCreate). */
const layer = (id: string, status: string, current?: number, total?: number) => ({
  id,
  status,
  progressDetail: current === undefined ? {} : { current, total },
});

describe('the engine is found', () => {
  const podman = '/run/user/7/podman/podman.sock';
  const existing = (...paths: string[]) => {
    const there = new Set(paths);
    return (path: string) => there.has(path);
  };
  const socketOf = async (host: string | undefined, env: Record<string, string>, ...paths: string[]) =>
    (await openEngine(host, env, existing(...paths))).modem;
  const env = { XDG_RUNTIME_DIR: '/run/user/7', HOME: '/home/me' };

  test.each<{
    says: string;
    host?: string;
    more?: Record<string, string>;
    paths: string[];
    socket: string;
  }>([
    { says: 'where the configuration says', host: 'unix:///mine', paths: [podman], socket: '/mine' },
    {
      ...{ says: 'where DOCKER_HOST says', more: { DOCKER_HOST: 'unix:///theirs' } },
      ...{ paths: [podman], socket: '/theirs' },
    },
    {
      ...{ says: "at Docker's own socket before podman's", socket: '/var/run/docker.sock' },
      paths: [podman, '/run/podman/podman.sock', '/var/run/docker.sock'],
    },
    {
      ...{ says: "at podman's socket of the machine", socket: '/run/podman/podman.sock' },
      paths: [podman, '/run/podman/podman.sock'],
    },
    { says: "at podman's socket of the user", paths: [podman], socket: podman },
    { says: "at Docker's usual one where there is none", paths: [], socket: '/var/run/docker.sock' },
  ])('$says', async ({ host, more = {}, paths, socket }) => {
    expect(await socketOf(host, { ...env, ...more }, ...paths)).toMatchObject({ socketPath: socket });
  });

  test("at podman's socket of the user without XDG_RUNTIME_DIR, and it answers", async () => {
    const own = `/run/user/${process.getuid?.()}/podman/podman.sock`;
    expect(await socketOf(undefined, {}, own)).toMatchObject({ socketPath: own });
    const folder = engine.socket.replace(/\/podman\/podman\.sock$/, '');
    const found = await openEngine(undefined, { XDG_RUNTIME_DIR: folder }, existing(engine.socket));
    expect(await found.info()).toEqual(engine.info);
  });
});

describe('a pull', () => {
  async function* lines() {
    yield { status: 'Pulling from library/debian', id: '12' };
    yield layer('a', 'Pulling fs layer');
    yield layer('b', 'Pulling fs layer');
    yield layer('a', 'Downloading', 1_500_000, 3_000_000);
    await sleep(systemClock, 20);
    yield layer('b', 'Downloading', 20_000_000, 40_000_000);
    await sleep(systemClock, 20);
    yield layer('a', 'Pull complete');
    await sleep(systemClock, 20);
    yield { status: 'Status: Downloaded newer image for debian:12' };
  }

  test('tells the chat of its beginning, its way and its end', async () => {
    engine.pull = lines;
    const texts: string[] = [];
    await ensureImage(await client(), 'debian:12', { onProgress: (text) => texts.push(text), everyMs: 10 });
    expect(texts).toEqual([
      'Pulling the image debian:12 …',
      'Pulling debian:12: 0 of 2 layers, 22 of 43 MB',
      'Pulling debian:12: 1 of 2 layers, 23 of 43 MB',
      'The image debian:12 is pulled.',
    ]);
  });

  test('tells nothing of an image that is there', async () => {
    engine.images.add('debian:12');
    const texts: string[] = [];
    await ensureImage(await client(), 'debian:12', { onProgress: (text) => texts.push(text) });
    expect(texts).toEqual([]);
  });

  test('speaks at most once in five seconds', async () => {
    engine.pull = lines;
    const texts: string[] = [];
    await ensureImage(await client(), 'debian:12', { onProgress: (text) => texts.push(text) });
    expect(texts).toHaveLength(2);
  });

  test('that the registry refuses on its way is told with its reason and mend', async () => {
    const error = 'toomanyrequests: You have reached your pull rate limit.';
    engine.pull = () => [layer('a', 'Pulling fs layer'), { errorDetail: { message: error }, error }];
    await expect(ensureImage(await client(), 'debian:12')).rejects.toMatchObject({
      code: 'environment_unavailable',
      message: expect.stringContaining('pull rate limit'),
      mend: expect.stringContaining('terminal.docker_image'),
    });
  });

  test('that falls silent is given up', async () => {
    const never = new AbortController();
    engine.pull = async function* () {
      yield layer('a', 'Pulling fs layer');
      await sleep(systemClock, 60_000, never.signal).catch(() => undefined);
    };
    await expect(ensureImage(await client(), 'debian:12', { silenceMs: 100 })).rejects.toThrow(
      'said nothing for 0.1 s',
    );
    never.abort();
  });

  test('counts layers that are there already, and bytes only when they are known', () => {
    const text = createPullText();
    expect(text({ status: 'Pulling from library/debian', id: '12' })).toBeNull();
    expect(text(layer('a', 'Already exists'))).toBe('1 of 1 layers');
    expect(text(layer('b', 'Pulling fs layer'))).toBe('1 of 2 layers');
    expect(text(layer('b', 'Downloading', 1, 2_000_000))).toBe('1 of 2 layers, 0.0 of 2.0 MB');
    expect(text({ status: 'Digest: sha256:0' })).toBeNull();
  });
});

describe('the disk of a container', () => {
  async function make(diskMegabytes = 2_000) {
    const { log, lines } = recordingLog();
    engine.images.add('debian:12');
    const options = testOptions('/tmp', {
      docker: { image: 'debian:12' },
      container: { persistent: false, diskMegabytes },
    });
    const context = { taskId: 't', installId: 'i', log, env: {} };
    await ensureContainer(await client(), await planContainer(options, context), context);
    return { warnings: lines.filter((line) => line.includes('container_disk')), made: engine.created.at(-1) };
  }

  test('is limited where the storage driver can do it', async () => {
    engine.info = { Driver: 'overlay2', DriverStatus: [['Backing Filesystem', 'xfs']] };
    const { warnings, made } = await make();
    expect(made?.HostConfig.StorageOpt).toEqual({ size: '2000M' });
    expect(warnings).toEqual([]);
  });

  test('is not when the engine lacks the mount option: told once, with its reason, and made without', async () => {
    engine.info = { Driver: 'overlay2', DriverStatus: [['Backing Filesystem', 'xfs']] };
    engine.refusesStorage = "--storage-opt is supported only for overlay over xfs with 'pquota' mount option";
    const first = await make();
    expect(first.made?.HostConfig.StorageOpt).toBeUndefined();
    expect(first.warnings).toEqual([expect.stringContaining("with 'pquota' mount option")]);
    expect((await make()).warnings).toEqual([]);
    engine.refusesStorage = null;
  });

  test('is not on other drivers: told once, with the driver', async () => {
    engine.info = { Driver: 'overlay2', DriverStatus: [['Backing Filesystem', 'extfs']] };
    const { warnings, made } = await make();
    expect(made?.HostConfig.StorageOpt).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('overlay2 on extfs')]);
    expect((await make()).warnings).toEqual([]);
  });

  test('has no limit, and no warning, when none is asked for', async () => {
    engine.info = { Driver: 'fuse-overlayfs', DriverStatus: [] };
    expect((await make(0)).warnings).toEqual([]);
  });
});
