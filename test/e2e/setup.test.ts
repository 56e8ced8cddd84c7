import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOpenAIEmulator } from '../emulators/openai/emulator.ts';
import { startTelegramEmulator } from '../emulators/telegram/telegram-emulator.ts';

const program = ['bin/hermes-gateway.js', 'setup'];
const run = promisify(execFile);

describe('hermes-gateway setup', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'hermes-setup-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  const envWith = (more: Record<string, string> = {}) => ({
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    HERMES_HOME: home,
    TERM: 'xterm',
    ...more,
  });
  const print = async (args: readonly string[], more: Record<string, string> = {}) =>
    (await run(process.execPath, [...program, ...args], { env: envWith(more) })).stdout;

  describe('as a wizard', () => {
    let terminal: IPty;
    let screen: string;
    const openAt = (more: Record<string, string>) => {
      screen = '';
      terminal = spawn(process.execPath, program, { env: envWith(more), cols: 120, rows: 40 });
      terminal.onData((data) => {
        screen += stripVTControlCharacters(data);
      });
    };
    const left = () => new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
    /** Waits for the question, forgets what was shown before it, and types. */
    async function answer(question: string | RegExp, keys: string): Promise<void> {
      await expect.poll(() => screen, { timeout: 10_000 }).toMatch(question);
      screen = '';
      terminal.write(keys);
    }
    const [enter, space, down] = ['\r', ' ', '\u001b[B'];

    it('checks each key as it is typed, and keeps secrets out of config.yaml', async () => {
      const telegram = await startTelegramEmulator();
      const model = await createOpenAIEmulator();
      await writeFile(join(home, 'config.yaml'), '# mine\nlog_level: warn\n');
      openAt({ TELEGRAM_API_ROOT: telegram.apiRoot });
      const ended = left();
      await answer('Which model shall answer?', `${down}${down}${enter}`);
      await answer('Its address', `${model.url}${enter}`);
      await answer('API key', `sk-test-key${enter}`);
      await answer('Name of the model', `fake${enter}`);
      await answer('Where shall the bot live?', `${space}${enter}`);
      await answer('Telegram bot token', `1:wrong${enter}`);
      await answer(/Telegram does not know this token[\s\S]*Keep it all the same\?/, enter);
      await answer('Telegram bot token', `${telegram.token}${enter}`);
      await answer('Who may use it on Telegram?', `42, 43${enter}`);
      await answer('What may it do there?', `${down}${enter}`);
      await answer('Where shall its commands run?', enter);
      expect(await ended).toBe(0);

      const env = await readFile(join(home, '.env'), 'utf8');
      expect(env).toBe(`OPENAI_API_KEY=sk-test-key\nTELEGRAM_BOT_TOKEN=${telegram.token}\n`);
      expect((await stat(join(home, '.env'))).mode & 0o777).toBe(0o600);
      const config = await readFile(join(home, 'config.yaml'), 'utf8');
      expect(config).toContain('# mine');
      expect(config).not.toContain(telegram.token);
      const shown = await run(
        process.execPath,
        ['bin/hermes-gateway.js', 'config', 'get', 'telegram.allowed_users'],
        {
          env: envWith(),
        },
      );
      expect(JSON.parse(shown.stdout)).toMatchObject({ value: ['42', '43'] });
      expect(config).toContain('coding');
      await Promise.all([telegram.close(), model.close()]);
    });

    it('changes nothing when it is left', async () => {
      openAt({});
      const ended = left();
      await answer('Which model shall answer?', '\u0003');
      expect(await ended).toBe(1);
      expect(screen).toContain('nothing was changed');
      await expect(stat(join(home, '.env'))).rejects.toThrow('ENOENT');
      await expect(stat(join(home, 'config.yaml'))).rejects.toThrow('ENOENT');
    });
  });

  it('needs a terminal for the wizard, and says what to do without one', async () => {
    await expect(print([])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('.env.example'),
    });
  });

  it('prints a Slack manifest that a program can read', async () => {
    const manifest = JSON.parse(await print(['slack', '--json', '--name', 'Otto']));
    expect(manifest).toMatchObject({
      display_information: { name: 'Otto' },
      settings: { socket_mode_enabled: true },
    });
  });

  it('prints a link that opens Slack with the manifest filled in', async () => {
    const text = await print(['slack', '--url', 'https://bot.example.org']);
    const link = /https:\/\/api\.slack\.com\/apps\?\S+/.exec(text)?.[0] ?? '';
    expect(JSON.parse(new URL(link).searchParams.get('manifest_json') ?? '')).toMatchObject({
      settings: { event_subscriptions: { request_url: 'https://bot.example.org/slack/events' } },
    });
  });

  it('prints the Discord invite link of the bot whose token is set', async () => {
    const token = `${Buffer.from('123456789012345678').toString('base64url')}.a.b`;
    expect(await print(['discord'], { DISCORD_BOT_TOKEN: token })).toContain('client_id=123456789012345678');
  });

  it('says how to find the Discord application where there is no token', async () => {
    await expect(print(['discord'])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--app'),
    });
  });
});
