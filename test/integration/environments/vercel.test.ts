import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Environment } from '../../../tools/environments/environment.ts';
import { checkBackend, tryBackend } from '../../../tools/environments/try-backend.ts';
import { createVercelEnvironment, reapVercel } from '../../../tools/environments/vercel.ts';
import {
  oidcToken,
  powerlessVercelToken,
  startVercelEmulator,
  type VercelEmulator,
  validOidcToken,
  vercelProject,
  vercelTeam,
  vercelToken,
} from '../../emulators/vercel/vercel-emulator.ts';
import { type OptionChanges, testOptions } from '../../support/terminal-options.ts';
import { recordingLog } from '../../unit/tools/support/log.ts';

const never = new AbortController().signal;

describe.skipIf(process.platform !== 'linux')('vercel_sandbox (needs /proc)', () => {
  let vercel: VercelEmulator;
  let sandboxFolder: string;
  const opened: Environment[] = [];
  const { log, lines } = recordingLog();

  beforeAll(async () => {
    vercel = await startVercelEmulator();
    sandboxFolder = await mkdtemp(join(tmpdir(), 'vercel-'));
  });
  afterEach(async () => {
    vercel.faults.clear();
    for (const environment of opened.splice(0)) await environment.close();
    for (const name of [...vercel.sandboxes.keys()]) await vercel.removeSandbox(name);
    await rm(book(), { force: true });
    lines.length = 0;
    vercel.calls.length = 0;
  });
  afterAll(async () => {
    await vercel.stop();
    await rm(sandboxFolder, { recursive: true });
    expect(vercel.violations).toEqual([]);
  });

  const book = () => join(sandboxFolder, 'vercel_sandbox_snapshots.json');

  const contextOf = (
    env: Record<string, string> = {},
    onProgress: (text: string) => void = () => undefined,
  ) => ({
    ...{ taskId: 'default', installId: 'unused', log, onProgress },
    env: {
      ...{ VERCEL_TOKEN: vercelToken, VERCEL_TEAM_ID: vercelTeam, VERCEL_PROJECT_ID: vercelProject },
      ...{ VERCEL_API_URL: vercel.apiUrl, ...env },
    },
  });

  async function open(changes: OptionChanges = {}, ...context: Parameters<typeof contextOf>) {
    const options = testOptions(sandboxFolder, { backend: 'vercel_sandbox', ...changes });
    const environment = await createVercelEnvironment(options, contextOf(...context));
    opened.push(environment);
    return environment;
  }

  const exec = (environment: Environment, command: string) =>
    environment.exec({ command, sessionId: 's', timeoutMs: 20_000, signal: never });

  const only = () => {
    const [sandbox] = vercel.sandboxes.values();
    if (sandbox === undefined || vercel.sandboxes.size !== 1) throw new Error('There is not one sandbox.');
    return sandbox;
  };

  const none = { VERCEL_TOKEN: '', VERCEL_TEAM_ID: '', VERCEL_PROJECT_ID: '' };

  test.each([
    {
      says: 'no credential',
      env: none,
      message: /neither VERCEL_TOKEN nor VERCEL_OIDC_TOKEN/,
      mend: /vercel\.com/,
    },
    {
      says: 'a missing id',
      env: { VERCEL_TEAM_ID: '' },
      message: /VERCEL_TEAM_ID is not set/,
      mend: /VERCEL_TEAM_ID/,
    },
    {
      says: 'an unknown token',
      env: { VERCEL_TOKEN: 'vcp_secret' },
      message: /in VERCEL_TOKEN/,
      mend: /revoked/,
    },
    {
      ...{ says: 'a token without the right', env: { VERCEL_TOKEN: powerlessVercelToken } },
      ...{ message: /may not/, mend: /VERCEL_PROJECT_ID/ },
    },
    {
      ...{ says: 'an OIDC token that has expired', env: { ...none, VERCEL_OIDC_TOKEN: oidcToken(1) } },
      ...{ message: /has expired/, mend: /vercel env pull/ },
    },
    {
      ...{ says: 'an OIDC token that is none', env: { ...none, VERCEL_OIDC_TOKEN: 'vcp_secret' } },
      ...{ message: /is not a token of a project/, mend: /VERCEL_TOKEN/ },
    },
    {
      ...{ says: 'a service that is not there', env: { VERCEL_API_URL: 'http://127.0.0.1:2' } },
      ...{ message: /127\.0\.0\.1:2.*ECONNREFUSED/, mend: /VERCEL_API_URL/ },
    },
  ])('$says is told with its mend and without the token', async ({ env, message, mend }) => {
    const error = await open({}, env).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      message: expect.stringMatching(message),
      mend: expect.stringMatching(mend),
    });
    const shown = JSON.stringify([String(error), error, lines]);
    expect(shown).not.toContain('vcp_');
    expect(shown).not.toContain(oidcToken(1));
  });

  test('an OIDC token alone will do: it holds team and project', async () => {
    const environment = await open({}, { ...none, VERCEL_OIDC_TOKEN: validOidcToken });
    expect((await exec(environment, 'echo in')).stdout).toBe('in\n');
  });

  test.each([
    { status: 402, mend: /Billing/ },
    { status: 429, mend: /plan/ },
  ])('$status is told with its mend', async ({ status, mend }) => {
    vercel.faults.add('create', { kind: 'fail', status, description: 'too many', retryAfter: 60 });
    await expect(open()).rejects.toMatchObject({
      message: expect.stringMatching(/limit of the account.*too many/),
      mend: expect.stringMatching(mend),
    });
  });

  test('answers that break off are asked for again, and the command runs once', async () => {
    vercel.cutAnswers(2);
    const environment = await open();
    await exec(environment, 'true');
    vercel.cutAnswers(2);
    expect((await exec(environment, 'echo ran >>log; cat log; sleep 1; echo end')).stdout).toBe('ran\nend\n');
  });

  test('processors are whole, a session lasts five minutes at least, and the runtime is as set', async () => {
    await open({
      container: { cpus: 2.7, diskMegabytes: 51_200 },
      lifetimeMs: 1_000,
      vercel: { runtime: 'python3.13' },
    });
    expect(only().created).toMatchObject({
      resources: { vcpus: 2 },
      timeout: 300_000,
      runtime: 'python3.13',
    });
  });

  test('another disk than the one that there is is refused before anything is made', async () => {
    await expect(open({ container: { diskMegabytes: 20_000 } })).rejects.toMatchObject({
      code: 'environment_refused',
      mend: expect.stringContaining('terminal.container_disk'),
    });
    expect(vercel.calls).toEqual([]);
  });

  test('a kept sandbox is stopped with a snapshot, and resumed by its name with its files', async () => {
    const first = await open();
    await first.files.write(join(first.home, 'note'), Buffer.from('kept'));
    await first.close();
    expect(only().session.status).toBe('stopped');
    const second = await open();
    expect(Buffer.from(await second.files.read(join(second.home, 'note'))).toString()).toBe('kept');
    expect(vercel.calls.filter((name) => name === 'create')).toHaveLength(1);
  });

  test('when the sandbox is gone, its last snapshot brings the files back', async () => {
    const first = await open();
    await first.files.write(join(first.home, 'note'), Buffer.from('kept'));
    await first.close();
    await vercel.removeSandbox(only().name);
    const second = await open();
    expect((await exec(second, 'cat note')).stdout).toBe('kept');
  });

  test('when sandbox and snapshot are gone it starts empty, and says so', async () => {
    const first = await open();
    await first.close();
    const { name } = only();
    vercel.snapshots.clear();
    const told: string[] = [];
    const second = await open({}, {}, (text) => told.push(text));
    expect((await exec(second, 'ls -A')).stdout).toBe('');
    expect(told.join('\n')).toContain('a new one starts empty');
    expect(JSON.parse(await readFile(book(), 'utf8'))).not.toHaveProperty(name);
  });

  test('a damaged file of snapshots is like none', async () => {
    await writeFile(book(), '{"half');
    const environment = await open();
    await environment.close();
    expect(Object.values(JSON.parse(await readFile(book(), 'utf8')))).toEqual([only().snapshotId]);
  });

  test('one that is not kept is gone when it is closed, without a snapshot', async () => {
    const environment = await open({ container: { persistent: false } });
    await environment.close();
    expect(vercel.sandboxes.size).toBe(0);
    await expect(readFile(book())).rejects.toThrow();
  });

  test('a session that ended is resumed before the next command, which says so', async () => {
    const environment = await open();
    await exec(environment, 'echo kept >note; export GONE=1');
    await vercel.endSession(only().name);
    expect(await exec(environment, 'cat note; echo "${GONE-none}"')).toMatchObject({
      stdout: 'kept\nnone\n',
      recreated: true,
    });
  });

  test('a session is extended while it is used and its end is near', async () => {
    const environment = await open({ lifetimeMs: 1_000 });
    await exec(environment, 'true');
    await expect.poll(() => only().session.timeout).toBeGreaterThan(300_000);
  });

  test('a session that may not be extended any more is told once and goes on', async () => {
    vercel.faults.add('extend', { kind: 'fail', status: 400, description: 'longest reached' }, Infinity);
    const environment = await open({ lifetimeMs: 1_000 });
    const told = () => lines.filter((line) => line.includes('longest reached'));
    await expect.poll(told).toHaveLength(1);
    for (const word of ['a', 'b']) expect((await exec(environment, `echo ${word}`)).stdout).toBe(`${word}\n`);
    expect(vercel.calls.filter((name) => name === 'extend')).toHaveLength(1);
  });

  test('the reaper stops what killed gateways of this installation left, and nothing else', async () => {
    const first = await open();
    const { name, tags } = only();
    const options = testOptions(sandboxFolder, { backend: 'vercel_sandbox' });
    expect(await reapVercel(options, contextOf())).toEqual([]);
    only().tags = { ...tags, hermes_owner: '999999999-1', hermes_gateway: 'of-somebody-else' };
    expect(await reapVercel(options, contextOf())).toEqual([]);
    only().tags = { ...tags, hermes_owner: '999999999-1' };
    expect(await reapVercel(options, contextOf())).toEqual([name]);
    expect(only().session.status).toBe('stopped');
    await first.close();
  });

  test('`doctor` asks the service and makes nothing there', async () => {
    const options = testOptions(sandboxFolder, { backend: 'vercel_sandbox' });
    expect(await checkBackend(options, contextOf())).toEqual([
      { level: 'ok', message: expect.stringContaining('Vercel at 127.0.0.1') },
    ]);
    expect(await checkBackend(options, contextOf({ VERCEL_TOKEN: powerlessVercelToken }))).toEqual([
      { level: 'error', message: expect.stringContaining('may not'), mend: expect.any(String) },
    ]);
    expect(vercel.calls).toEqual(['list']);
  });

  test('`terminal try` passes and leaves nothing there', async () => {
    const options = testOptions(sandboxFolder, { backend: 'vercel_sandbox' });
    const steps = await tryBackend(options, contextOf());
    expect(steps.filter(({ ok }) => !ok)).toEqual([]);
    expect(vercel.sandboxes.size).toBe(0);
    expect(steps.at(0)?.name).toBe('opens vercel_sandbox');
  });
});
