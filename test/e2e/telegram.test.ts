import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startTelegramEmulator, type TelegramEmulator } from '../emulators/telegram/telegram-emulator.ts';
import { type GatewayProcess, startGatewayProcess } from './support/gateway-process.ts';

/** The whole gateway as a process, the real client library, the offline model, against Telegram's API. */
describe('on Telegram', () => {
  let telegram: TelegramEmulator;
  let gateway: GatewayProcess | null = null;

  async function start(env: Record<string, string> = {}): Promise<GatewayProcess> {
    telegram = await startTelegramEmulator();
    gateway = await startGatewayProcess({
      env: {
        TELEGRAM_BOT_TOKEN: telegram.token,
        TELEGRAM_API_ROOT: telegram.apiRoot,
        GATEWAY_ALLOW_ALL_USERS: 'true',
        ...env,
      },
    });
    await makeBuild(gateway.home);
    return gateway;
  }
  const makeBuild = async (home: string) => {
    await mkdir(join(home, 'build'));
    for (let index = 0; index < 12; index += 1)
      await writeFile(join(home, 'build', `file${index}`), 'x'.repeat(4_000));
  };
  const buildOf = (home: string) => join(home, 'build');

  afterEach(async () => {
    await gateway?.dispose();
    await telegram.close();
    expect(telegram.violations).toEqual([]);
  });

  it('asks with a card that shows the reach, runs it after a tap, and shows the outcome', async () => {
    const { home } = await start();
    const ann = telegram.addUser('Ann');
    ann.says('delete the folder build');
    const card = await telegram.until.botShows('May I run this?');
    expect(card.text).toContain('rm -r build');
    expect(card.text).toContain('12 files, 48 kB');
    expect(existsSync(buildOf(home))).toBe(true);
    expect(await ann.presses('Once')).toEqual({ text: 'Approved.', alert: false });
    await telegram.until.botShows('Approved once by Ann');
    await telegram.until.botShows(/rm -r build/);
    await expect.poll(() => existsSync(buildOf(home))).toBe(false);
  });

  it('runs it once when the gateway is killed while the card waits', async () => {
    const running = await start();
    const ann = telegram.addUser('Ann');
    ann.says('run `echo ran >> ledger; rm -r build`');
    await telegram.until.botShows('May I run this?');
    await running.kill();
    await running.restart();
    await ann.presses('Once');
    await telegram.until.botShows('Approved once by Ann');
    await expect.poll(() => existsSync(buildOf(running.home))).toBe(false);
    const { readFile } = await import('node:fs/promises');
    expect(await readFile(join(running.home, 'ledger'), 'utf8')).toBe('ran\n');
  });

  it('refuses a tap of somebody else in a group, and runs nothing', async () => {
    const { home } = await start({ TELEGRAM_REQUIRE_MENTION: 'false' });
    const ann = telegram.addUser('Ann');
    const bob = telegram.addUser('Bob');
    const group = telegram.addGroup('Team');
    ann.says('delete the folder build', { in: group });
    await telegram.until.botShows('May I run this?', group);
    expect(await bob.presses('Once', { in: group })).toEqual({
      text: 'Only Ann or an admin can decide this.',
      alert: true,
    });
    expect(existsSync(buildOf(home))).toBe(true);
  });

  it('answers in Russian to whoever has Telegram in Russian', async () => {
    await start();
    const anna = telegram.addUser('Анна', { locale: 'ru' });
    anna.says('/help');
    await telegram.until.botShows('Пишите мне как коллеге');
  });

  it('resolves an answer whose sending had an unknown outcome within ten seconds, once', async () => {
    await start();
    const ann = telegram.addUser('Ann');
    ann.says('run `echo first`');
    await telegram.until.botShows('first');
    for (const fault of ['502', 'socket'] as const) {
      if (fault === '502')
        telegram.fail('sendRichMessage', { status: 502, description: 'Bad Gateway', times: 1 });
      else telegram.dropSocket('sendRichMessage', 'before', 1);
      ann.says(`run \`echo after-${fault}\``);
      await telegram.until.botShows(`after-${fault}`, undefined, 10_000);
      expect(
        telegram.shown(ann.chat).filter((message) => message.text.includes(`after-${fault}`)),
      ).toHaveLength(1);
    }
  });

  it('keeps the order of a chat through a 429', async () => {
    await start();
    const ann = telegram.addUser('Ann');
    telegram.fail('sendRichMessage', { status: 429, retryAfter: 1, times: 1 });
    ann.says('run `echo one`');
    await telegram.until.botShows('one');
    ann.says('run `echo two`');
    await telegram.until.botShows('two');
    const texts = telegram.shown(ann.chat).map((message) => message.text);
    expect(texts.findIndex((text) => text.includes('one'))).toBeLessThan(
      texts.findIndex((text) => text.includes('two')),
    );
  });

  it('never lets the typing sign delay an answer', async () => {
    await start();
    const ann = telegram.addUser('Ann');
    telegram.hang('sendChatAction', 5);
    ann.says('run `sleep 1; echo awake`');
    await telegram.until.botShows('awake', undefined, 5_000);
  });

  it('stops cleanly on SIGTERM and answers what came meanwhile after the next start', async () => {
    const running = await start();
    const ann = telegram.addUser('Ann');
    expect(await running.stop()).toBe(0);
    ann.says('run `echo later`');
    await running.restart();
    await telegram.until.botShows('later');
  });

  it('says that the token is wrong and how to mend it, and keeps the web chat up', async () => {
    telegram = await startTelegramEmulator();
    gateway = await startGatewayProcess({
      ready: false,
      env: {
        TELEGRAM_BOT_TOKEN: '1:wrong-token-wrong-token-wrong-token',
        TELEGRAM_API_ROOT: telegram.apiRoot,
      },
    });
    await expect.poll(() => gateway?.log(), { timeout: 10_000 }).toContain('TELEGRAM_BOT_TOKEN');
    expect(gateway.log()).not.toContain('wrong-token-wrong');
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    const ready = await fetch(`${gateway.url}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.text()).toContain('telegram is fatal');
  });
});
