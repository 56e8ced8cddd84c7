import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Environment } from '../../../tools/environments/environment.ts';
import { createModalEnvironment, reapModal } from '../../../tools/environments/modal.ts';
import { checkBackend, tryBackend } from '../../../tools/environments/try-backend.ts';
import {
  type ModalEmulator,
  modalTokenId,
  modalTokenSecret,
  powerlessModalSecret,
  startModalEmulator,
} from '../../emulators/modal/modal-emulator.ts';
import { type OptionChanges, testOptions } from '../../support/terminal-options.ts';
import { recordingLog } from '../../unit/tools/support/log.ts';

const never = new AbortController().signal;
/** gRPC status codes. */
const resourceExhausted = 8;

describe.skipIf(process.platform !== 'linux')('modal (needs /proc)', () => {
  let modal: ModalEmulator;
  let sandboxFolder: string;
  const opened: Environment[] = [];
  const { log, lines } = recordingLog();

  beforeAll(async () => {
    modal = await startModalEmulator();
    sandboxFolder = await mkdtemp(join(tmpdir(), 'modal-'));
  });
  afterEach(async () => {
    modal.faults.clear();
    for (const environment of opened.splice(0)) await environment.close();
    await modal.removeSandboxes();
    await rm(book(), { force: true });
    lines.length = 0;
    modal.calls.length = 0;
  });
  afterAll(async () => {
    await modal.stop();
    await rm(sandboxFolder, { recursive: true });
    expect(modal.violations).toEqual([]);
  });

  const book = () => join(sandboxFolder, 'modal_snapshots.json');
  const none = { MODAL_TOKEN_ID: '', MODAL_TOKEN_SECRET: '' };

  const contextOf = (
    env: Record<string, string> = {},
    onProgress: (text: string) => void = () => undefined,
  ) => ({
    ...{ taskId: 'default', installId: 'unused', log, onProgress },
    env: {
      ...{ MODAL_TOKEN_ID: modalTokenId, MODAL_TOKEN_SECRET: modalTokenSecret },
      ...{ MODAL_SERVER_URL: modal.url, HOME: sandboxFolder, ...env },
    },
  });

  async function open(changes: OptionChanges = {}, ...context: Parameters<typeof contextOf>) {
    const options = testOptions(sandboxFolder, { backend: 'modal', ...changes });
    const environment = await createModalEnvironment(options, contextOf(...context));
    opened.push(environment);
    return environment;
  }

  const exec = (environment: Environment, command: string) =>
    environment.exec({ command, sessionId: 's', timeoutMs: 20_000, signal: never });

  const running = () => [...modal.sandboxes.values()].filter(({ ended }) => ended === null);

  function only() {
    const [sandbox] = running();
    if (sandbox === undefined || running().length !== 1) throw new Error('There is not one sandbox.');
    return sandbox;
  }

  async function configFile(text: string): Promise<string> {
    const path = join(sandboxFolder, 'modal.toml');
    await writeFile(path, text);
    return path;
  }

  test.each([
    {
      ...{ says: 'no credential', env: none },
      ...{ message: /neither the variables nor .*\.modal\.toml hold one/, mend: /MODAL_TOKEN_ID/ },
    },
    {
      ...{ says: 'half a pair', env: { MODAL_TOKEN_SECRET: '' } },
      ...{ message: /MODAL_TOKEN_SECRET is not set/, mend: /Settings/ },
    },
    {
      ...{ says: 'an unknown token', env: { MODAL_TOKEN_SECRET: 'as-not-a-secret' } },
      ...{ message: /does not know the credential in MODAL_TOKEN_ID and/, mend: /revoked/ },
    },
    {
      ...{ says: 'a token without the right', env: { MODAL_TOKEN_SECRET: powerlessModalSecret } },
      ...{ message: /may not do this/, mend: /workspace/ },
    },
    {
      ...{ says: 'an address that is none', env: { MODAL_SERVER_URL: 'modal' } },
      ...{ message: /not an address/, mend: /api\.modal\.com/ },
    },
    {
      ...{ says: 'a service that is not there', env: { MODAL_SERVER_URL: 'http://127.0.0.1:2' } },
      ...{ message: /cannot be reached at 127\.0\.0\.1:2/, mend: /MODAL_SERVER_URL/ },
    },
  ])(
    '$says is told with its mend and without the token',
    async ({ env, message, mend }) => {
      const error = await open({}, env).catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        message: expect.stringMatching(message),
        mend: expect.stringMatching(mend),
      });
      expect(JSON.stringify([String(error), error, lines])).not.toMatch(
        /as-not-a-secret|as-emulated|as-power/,
      );
    },
    20_000,
  );

  test('the active profile of the file of `modal token new` will do, and is named when it is refused', async () => {
    const profiles = (secret: string) =>
      `[other]\ntoken_id = "x"\n\n[mine]\ntoken_id = "${modalTokenId}"\ntoken_secret = "${secret}"\nactive = true\n`;
    const MODAL_CONFIG_PATH = await configFile(profiles(modalTokenSecret));
    const environment = await open({}, { ...none, MODAL_CONFIG_PATH });
    expect((await exec(environment, 'echo in')).stdout).toBe('in\n');
    await configFile(profiles('as-not-a-secret'));
    await expect(open({}, { ...none, MODAL_CONFIG_PATH })).rejects.toThrow(`${MODAL_CONFIG_PATH} [mine]`);
  });

  test('a damaged file, or a profile that it lacks, is told by name and shows nothing of it', async () => {
    const MODAL_CONFIG_PATH = await configFile('[mine\ntoken_secret = "as-not-a-secret"');
    const damaged = await open({}, { ...none, MODAL_CONFIG_PATH }).catch(String);
    expect(damaged).toContain(`${MODAL_CONFIG_PATH} cannot be read`);
    expect(damaged).not.toContain('as-not-a-secret');
    await configFile('[mine]\n');
    await expect(open({}, { ...none, MODAL_CONFIG_PATH, MODAL_PROFILE: 'work' })).rejects.toThrow(
      'has no profile work',
    );
  });

  test('a limit of the account is told with its mend', async () => {
    modal.faults.add('sandboxCreateV2', { kind: 'fail', status: resourceExhausted, description: 'too many' });
    await expect(open()).rejects.toMatchObject({
      message: expect.stringMatching(/limit of the account.*too many/),
      mend: expect.stringMatching(/limits/),
    });
  });

  test('an image that cannot be built is told with what Modal says of it', async () => {
    await expect(open({ modal: { image: 'no-such-image:1' } })).rejects.toThrow(
      /build the image no-such-image:1.*no such image/s,
    );
    await expect(open({ modal: { image: 'debian\nRUN true' } })).rejects.toThrow('not the name of an image');
  });

  test('answers that get lost are asked for again, and the command runs once', async () => {
    const environment = await open();
    await exec(environment, 'true');
    for (const name of ['taskExecStart', 'taskExecStdioRead']) {
      modal.faults.add(name, { kind: 'drop', when: 'after' }, 2);
    }
    expect((await exec(environment, 'echo ran >>log; cat log; sleep 1; echo end')).stdout).toBe('ran\nend\n');
  });

  test('a sandbox has the limits of the configuration, and ends by itself when nobody uses it', async () => {
    await open({ container: { cpus: 1.5, memoryMegabytes: 2_048 } });
    expect(only().definition).toEqual({
      timeoutSecs: 86_400,
      idleTimeoutSecs: 3_600,
      milliCpu: 1_500,
      memoryMb: 2_048,
    });
  });

  test('a kept sandbox ends with a snapshot, from which the next one starts with its files', async () => {
    const first = await open();
    await first.files.write(join(first.home, 'note'), Buffer.from('kept'));
    await first.close();
    expect(running()).toEqual([]);
    const second = await open();
    expect((await exec(second, 'cat note')).stdout).toBe('kept');
    expect(JSON.parse(await readFile(book(), 'utf8'))).toEqual({ 'direct:default': expect.any(String) });
  });

  test('a snapshot that is gone is forgotten: it starts empty, and says so', async () => {
    const first = await open();
    await first.close();
    const { 'direct:default': snapshot } = JSON.parse(await readFile(book(), 'utf8'));
    modal.removeImage(snapshot);
    const told: string[] = [];
    const second = await open({}, {}, (text) => told.push(text));
    expect((await exec(second, 'ls -A')).stdout).toBe('');
    expect(told.join('\n')).toContain('a new one starts empty');
    expect(JSON.parse(await readFile(book(), 'utf8'))).toEqual({});
  });

  test('a snapshot that a refused token cannot restore is not forgotten', async () => {
    const first = await open();
    await first.close();
    const before = await readFile(book(), 'utf8');
    await expect(open({}, { MODAL_TOKEN_SECRET: powerlessModalSecret })).rejects.toThrow('may not');
    expect(await readFile(book(), 'utf8')).toBe(before);
  });

  test('files that cannot be kept are not thrown away: the sandbox is left to its time', async () => {
    const environment = await open();
    modal.faults.add('taskSnapshotFilesystem', { kind: 'fail', status: resourceExhausted });
    await expect(environment.close()).rejects.toThrow('keep the files');
    expect(running()).toHaveLength(1);
  });

  test('one that is not kept is gone when it is closed, without a snapshot', async () => {
    const environment = await open({ container: { persistent: false } });
    await environment.close();
    expect(running()).toEqual([]);
    await expect(readFile(book())).rejects.toThrow();
  });

  test('a sandbox whose time was over is made anew before the next command, which says so', async () => {
    const environment = await open();
    await exec(environment, 'export GONE=1');
    await modal.endSandbox(only().id);
    expect(await exec(environment, 'echo "${GONE-none}"')).toMatchObject({
      stdout: 'none\n',
      recreated: true,
    });
  });

  test('a sandbox that a killed gateway left running is used on, with what is in it', async () => {
    const first = await open();
    await exec(first, 'echo here >note');
    const second = await open();
    expect((await exec(second, 'cat note')).stdout).toBe('here\n');
    expect(running()).toHaveLength(1);
  });

  test('the reaper keeps the files of what killed gateways of this installation left, and ends it', async () => {
    const first = await open();
    await exec(first, 'echo kept >note');
    const { id, tags } = only();
    const options = testOptions(sandboxFolder, { backend: 'modal' });
    expect(await reapModal(options, contextOf())).toEqual([]);
    const killed = new Map([...tags, ['hermes_owner', '999999999-1']]);
    only().tags = new Map([...killed, ['hermes_gateway', 'of-somebody-else']]);
    expect(await reapModal(options, contextOf())).toEqual([]);
    only().tags = killed;
    expect(await reapModal(options, contextOf())).toEqual([id]);
    expect(running()).toEqual([]);
    expect((await exec(await open(), 'cat note')).stdout).toBe('kept\n');
  });

  test('`doctor` asks the service and makes nothing there', async () => {
    const options = testOptions(sandboxFolder, { backend: 'modal' });
    expect(await checkBackend(options, contextOf())).toEqual([
      { level: 'ok', message: expect.stringContaining('Modal at 127.0.0.1') },
    ]);
    expect(await checkBackend(options, contextOf({ MODAL_TOKEN_SECRET: powerlessModalSecret }))).toEqual([
      { level: 'error', message: expect.stringContaining('may not'), mend: expect.any(String) },
    ]);
    expect(modal.calls.filter((name) => name.startsWith('sandbox'))).toEqual([]);
  });

  test('`terminal try` passes and leaves nothing there', async () => {
    const options = testOptions(sandboxFolder, { backend: 'modal' });
    const steps = await tryBackend(options, contextOf());
    expect(steps.filter(({ ok }) => !ok)).toEqual([]);
    expect(steps.at(0)?.name).toBe('opens modal');
    expect(running()).toEqual([]);
    await expect(readFile(book())).rejects.toThrow();
  });
});
