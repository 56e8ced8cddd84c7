import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createDaytonaEnvironment, reapDaytona } from '../../../tools/environments/daytona.ts';
import type { Environment } from '../../../tools/environments/environment.ts';
import { checkBackend, tryBackend } from '../../../tools/environments/try-backend.ts';
import {
  type DaytonaEmulator,
  daytonaKey,
  powerlessDaytonaKey,
  startDaytonaEmulator,
} from '../../emulators/daytona/daytona-emulator.ts';
import { type OptionChanges, testOptions } from '../../support/terminal-options.ts';
import { recordingLog } from '../../unit/tools/support/log.ts';

const never = new AbortController().signal;

describe.skipIf(process.platform !== 'linux')('daytona (needs /proc)', () => {
  let daytona: DaytonaEmulator;
  let sandboxFolder: string;
  const opened: Environment[] = [];
  const { log, lines } = recordingLog();

  beforeAll(async () => {
    daytona = await startDaytonaEmulator();
    sandboxFolder = await mkdtemp(join(tmpdir(), 'daytona-'));
  });
  afterEach(async () => {
    daytona.faults.clear();
    for (const environment of opened.splice(0)) await environment.close();
    for (const id of [...daytona.sandboxes.keys()]) await daytona.destroySandbox(id);
    lines.length = 0;
    daytona.calls.length = 0;
  });
  afterAll(async () => {
    await daytona.stop();
    await rm(sandboxFolder, { recursive: true });
    expect(daytona.violations).toEqual([]);
  });

  const contextOf = (env: Record<string, string> = {}) => ({
    taskId: 'default',
    installId: 'unused',
    log,
    env: { DAYTONA_API_KEY: daytonaKey, DAYTONA_API_URL: daytona.apiUrl, ...env },
  });

  async function open(changes: OptionChanges = {}, env: Record<string, string> = {}) {
    const options = testOptions(sandboxFolder, { backend: 'daytona', ...changes });
    const environment = await createDaytonaEnvironment(options, contextOf(env));
    opened.push(environment);
    return environment;
  }

  const exec = (environment: Environment, command: string) =>
    environment.exec({ command, sessionId: 's', timeoutMs: 20_000, signal: never });

  const only = () => {
    const [sandbox] = daytona.sandboxes.values();
    if (sandbox === undefined || daytona.sandboxes.size !== 1) throw new Error('There is not one sandbox.');
    return sandbox;
  };

  test.each([
    {
      says: 'a missing key',
      env: { DAYTONA_API_KEY: '' },
      message: /DAYTONA_API_KEY is not set/,
      mend: /app\.daytona\.io/,
    },
    {
      says: 'an unknown key',
      env: { DAYTONA_API_KEY: 'dtn_secret' },
      message: /DAYTONA_API_KEY/,
      mend: /wrong, revoked/,
    },
    {
      says: 'a key without the right',
      env: { DAYTONA_API_KEY: powerlessDaytonaKey },
      message: /may not/,
      mend: /write:sandboxes/,
    },
    {
      says: 'a server that is not there',
      env: { DAYTONA_API_URL: 'http://127.0.0.1:2/api' },
      message: /127\.0\.0\.1:2.*ECONNREFUSED/,
      mend: /DAYTONA_API_URL/,
    },
  ])('$says is told with its mend and without the key', async ({ env, message, mend }) => {
    const error = await open({}, env).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      message: expect.stringMatching(message),
      mend: expect.stringMatching(mend),
    });
    const shown = JSON.stringify([String(error), error, lines]);
    expect(shown).not.toContain('dtn_');
  });

  test.each([
    { status: 402, message: /limit of the account.*no credit/, mend: /Billing/ },
    { status: 429, message: /limit of the account.*no credit/, mend: /Limits/ },
    { status: 503, message: /503.*no credit/, mend: /later/ },
  ])('$status is told with what the service said and with its mend', async ({ status, message, mend }) => {
    daytona.faults.add(
      'create',
      { kind: 'fail', status, description: `no credit for ${daytonaKey}`, retryAfter: 60 },
      3,
    );
    const error = await open().catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      message: expect.stringMatching(message),
      mend: expect.stringMatching(mend),
    });
    expect(String(error)).not.toContain(daytonaKey);
  });

  test('what passes by itself is tried three times', async () => {
    daytona.faults.add('create', { kind: 'fail', status: 503 }, 2);
    await open();
    expect(daytona.calls.filter((name) => name === 'create')).toHaveLength(3);
  });

  test('a sandbox whose making was heard, but not answered, is taken and not made twice', async () => {
    daytona.faults.add('create', { kind: 'drop', when: 'after' });
    const environment = await open();
    expect((await exec(environment, 'echo here')).stdout).toBe('here\n');
    expect(daytona.sandboxes.size).toBe(1);
  });

  test('a command whose answers are lost runs once and loses no output', async () => {
    const environment = await open();
    await exec(environment, 'true');
    daytona.faults.add('execute', { kind: 'drop', when: 'after' }, 2);
    expect((await exec(environment, 'echo ran >>log; cat log; sleep 1; echo end')).stdout).toBe('ran\nend\n');
  });

  test('a short command costs one call, and a long one few', async () => {
    const environment = await open();
    await exec(environment, 'true');
    daytona.calls.length = 0;
    await exec(environment, 'echo out; echo err >&2');
    expect(daytona.calls).toEqual(['execute']);
    await exec(environment, 'sleep 2; echo end');
    expect(daytona.calls.length).toBeLessThanOrEqual(4);
  });

  test('an image that cannot be built is told with the key to mend', async () => {
    await expect(open({ daytona: { image: 'no-such-image:1' } })).rejects.toMatchObject({
      message: expect.stringContaining('did not start'),
      mend: expect.stringContaining('terminal.daytona_image'),
    });
  });

  test('an image is no way to further instructions of a Dockerfile', async () => {
    await expect(open({ daytona: { image: 'debian\nRUN evil' } })).rejects.toMatchObject({
      code: 'environment_refused',
    });
    expect(daytona.calls).not.toContain('create');
  });

  test('limits are rounded up to whole GiB, and the disk that is not given is told', async () => {
    await open({ container: { cpus: 1.5, memoryMegabytes: 5120, diskMegabytes: 51_200 } });
    expect(only().created).toMatchObject({
      cpu: 2,
      memory: 5,
      disk: 10,
      autoStopInterval: 0,
      buildInfo: { dockerfileContent: 'FROM debian:12\n' },
    });
    expect(JSON.stringify(lines)).toContain('at most 10 GiB');
  });

  test('a snapshot brings its own limits', async () => {
    await open(
      { daytona: { image: 'snapshot:mine' }, container: { memoryMegabytes: 5120 } },
      { DAYTONA_TARGET: 'eu' },
    );
    expect(only().created).toMatchObject({ snapshot: 'mine', target: 'eu' });
    expect(only().created.memory).toBeUndefined();
  });

  test('a kept sandbox is stopped when it is closed, and found and started again with its files', async () => {
    const first = await open();
    await first.files.write(join(first.home, 'note'), Buffer.from('kept'));
    await first.close();
    const { id } = only();
    expect(only().state).toBe('stopped');
    const second = await open();
    expect(Buffer.from(await second.files.read(join(second.home, 'note'))).toString()).toBe('kept');
    expect(only().id).toBe(id);
  });

  test('one that is not kept is gone when it is closed', async () => {
    const environment = await open({ container: { persistent: false } });
    await environment.close();
    expect(daytona.sandboxes.size).toBe(0);
  });

  test('a sandbox that was stopped is started again before the next command, which says so', async () => {
    const environment = await open();
    await exec(environment, 'echo kept >note; export GONE=1');
    await daytona.stopSandbox(only().id);
    expect(await exec(environment, 'cat note; echo "${GONE-none}"')).toMatchObject({
      stdout: 'kept\nnone\n',
      recreated: true,
    });
    expect((await exec(environment, 'true')).recreated).toBeUndefined();
  });

  test('one that was deleted is made anew, once however many commands want it', async () => {
    const environment = await open();
    await exec(environment, 'true');
    await daytona.destroySandbox(only().id);
    const results = await Promise.all(['a', 'b', 'c'].map((word) => exec(environment, `echo ${word}`)));
    expect(results.map(({ stdout }) => stdout)).toEqual(['a\n', 'b\n', 'c\n']);
    expect(results.some(({ recreated }) => recreated)).toBe(true);
    expect(daytona.sandboxes.size).toBe(1);
  });

  test('a command under which the sandbox goes is told as unknown and is not run again', async () => {
    const environment = await open();
    const running = exec(environment, 'echo once >>runs; sleep 30').catch((reason: unknown) => reason);
    await expect
      .poll(() => environment.files.stat(join(environment.home, 'runs')), { timeout: 10_000 })
      .not.toBeNull();
    await daytona.stopSandbox(only().id);
    expect(await running).toMatchObject({
      code: 'environment_unavailable',
      mend: expect.stringContaining('See first'),
    });
    expect((await exec(environment, 'cat runs')).stdout).toBe('once\n');
  });

  test('nothing is sent to a sandbox after it was closed', async () => {
    const environment = await open();
    await environment.spawn({ command: 'sleep 30', sessionId: 's', pty: false });
    await environment.close();
    await expect(exec(environment, 'true')).rejects.toMatchObject({
      message: expect.stringContaining('closed'),
    });
    expect(only().state).toBe('stopped');
  });

  test('a terminal is not to be had, which is said', async () => {
    const environment = await open();
    const { ptyNote, exited } = await environment.spawn({ command: 'true', sessionId: 's', pty: true });
    expect(ptyNote).toContain('no terminal');
    expect(await exited).toBe(0);
  });

  test('the reaper closes what killed gateways of this installation left, and nothing else', async () => {
    await open();
    const living = only().id;
    for (const { persistent, install } of [
      { persistent: 'true', install: only().labels['hermes_gateway'] ?? '' },
      { persistent: 'false', install: only().labels['hermes_gateway'] ?? '' },
      { persistent: 'false', install: 'of-somebody-else' },
    ]) {
      await addSandbox({
        hermes_gateway: install,
        hermes_persistent: persistent,
        hermes_owner: `${process.pid}-1`,
      });
    }
    const options = testOptions(sandboxFolder, { backend: 'daytona' });
    expect(await reapDaytona(options, contextOf())).toEqual(['left-true', 'left-false']);
    const states = [...daytona.sandboxes.values()].map(({ id, name, state }) => [
      id === living ? 'living' : name,
      state,
    ]);
    expect(states).toEqual([
      ['living', 'started'],
      ['left-true', 'stopped'],
      ['left-false-other', 'started'],
    ]);
  });

  async function addSandbox(labels: Record<string, string>): Promise<void> {
    const answer = await fetch(`${daytona.apiUrl}/sandbox`, {
      method: 'POST',
      headers: { authorization: `Bearer ${daytonaKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: `left-${labels['hermes_persistent']}${labels['hermes_gateway'] === 'of-somebody-else' ? '-other' : ''}`,
        labels,
        snapshot: 'any',
        autoStopInterval: 0,
      }),
    });
    expect(answer.status).toBe(200);
  }

  test('`doctor` asks the service and makes nothing there', async () => {
    const options = testOptions(sandboxFolder, { backend: 'daytona' });
    expect(await checkBackend(options, contextOf())).toEqual([
      { level: 'ok', message: expect.stringContaining('Daytona at 127.0.0.1') },
    ]);
    expect(await checkBackend(options, contextOf({ DAYTONA_API_KEY: powerlessDaytonaKey }))).toEqual([
      { level: 'error', message: expect.stringContaining('may not'), mend: expect.any(String) },
    ]);
    expect(daytona.calls).toEqual(['list']);
  });

  test('`terminal try` passes and leaves nothing there', async () => {
    const options = testOptions(sandboxFolder, { backend: 'daytona' });
    const steps = await tryBackend(options, contextOf());
    expect(steps.filter(({ ok }) => !ok)).toEqual([]);
    expect(daytona.sandboxes.size).toBe(0);
    expect(steps.at(0)?.name).toBe('opens daytona');
  });
});
