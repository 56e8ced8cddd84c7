import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GatewayProcess, startGatewayProcess } from '../../e2e/support/gateway-process.ts';
import { createOpenAIEmulator, type OpenAIEmulator } from '../../emulators/openai/emulator.ts';
import type { ChatRequest, ScriptedReply } from '../../emulators/openai/reply.ts';
import { startTelegramEmulator, type TelegramEmulator } from '../../emulators/telegram/telegram-emulator.ts';
import { mountSmallDisk, type SmallDisk, whyNoSmallDisk } from './small-disk.ts';

/** What can only be seen from outside: the whole gateway as a process that dies. */
describe('a gateway that dies', () => {
  let telegram: TelegramEmulator;
  let model: OpenAIEmulator | null = null;
  let gateway: GatewayProcess | null = null;
  let disk: SmallDisk | null = null;
  beforeEach(async () => {
    telegram = await startTelegramEmulator();
  });
  afterEach(async () => {
    await gateway?.dispose();
    await model?.close();
    await telegram.close();
    disk?.dispose();
    gateway = model = disk = null;
  });

  async function start(env: Record<string, string> = {}, home?: string): Promise<GatewayProcess> {
    gateway = await startGatewayProcess({
      ...(home !== undefined && { home }),
      env: {
        TELEGRAM_BOT_TOKEN: telegram.token,
        TELEGRAM_API_ROOT: telegram.apiRoot,
        GATEWAY_ALLOW_ALL_USERS: 'true',
        HERMES_APPROVALS_MODE: 'off',
        ...env,
      },
    });
    return gateway;
  }
  async function withModel(answer: (request: ChatRequest) => ScriptedReply): Promise<Record<string, string>> {
    model = await createOpenAIEmulator({ answer });
    return { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-test', HERMES_MODEL: 'fake' };
  }
  const runs = (command: string, more: object = {}): ScriptedReply => ({
    toolCalls: [{ name: 'terminal', arguments: JSON.stringify({ command, ...more }) }],
  });
  const lastSaid = ({ messages }: ChatRequest) =>
    JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content ?? '');
  const isAnswered = ({ messages }: ChatRequest) => messages.at(-1)?.role === 'tool';
  const readiness = async () => {
    const response = await fetch(`${gateway?.url}/readyz`);
    return { status: response.status, body: await response.text() };
  };

  it('has stored an update that it answered 200, though it is killed right after', async () => {
    const url = 'https://bot.example.invalid';
    const secret = 'a-webhook-secret-for-tests';
    const running = await start({ TELEGRAM_WEBHOOK_URL: url, TELEGRAM_WEBHOOK_SECRET: secret });
    const ann = telegram.addUser('Ann');
    const { update } = ann.says('run `echo from-the-webhook`');
    const response = await fetch(`${running.url}/webhooks/telegram`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret },
      body: JSON.stringify(update),
    });
    await running.kill();
    expect(response.status).toBe(200);
    await running.restart();
    await telegram.until.botShows('from-the-webhook');
  });

  it('sets a message aside that kills it three times, tells its chat, and answers the others', async () => {
    // The model runs it again and again; `killer` ends the gateway that owns this home, by the pid of its lock.
    const env = await withModel((request) => {
      if (lastSaid(request).includes('poison')) return runs('node killer.mjs');
      return { text: `answer to ${lastSaid(request)}` };
    });
    const running = await start(env);
    const { home } = running;
    await writeFile(join(home, 'killer.mjs'), killer);
    const mallory = telegram.addUser('Mallory');
    const ann = telegram.addUser('Ann');
    mallory.says('poison');
    const deaths = [running.pid];
    while (deaths.length < 3) {
      await running.died();
      await running.restart();
      deaths.push(running.pid);
    }
    await running.died();
    ann.says('are you there?');
    await running.restart();
    await telegram.until.botShows(/interrupted several times/, mallory.chat);
    await telegram.until.botShows('answer to', ann.chat);
    expect((await readFile(join(home, 'deaths'), 'utf8')).trim().split('\n')).toEqual(deaths.map(String));
    expect((await readiness()).status).toBe(200);
  });

  it('finds its background process again, and tells once that it ended', async () => {
    let notices = 0;
    const env = await withModel((request) => {
      if (lastSaid(request).includes('Notice from the gateway')) {
        notices += 1;
        return { text: 'the process has ended' };
      }
      if (isAnswered(request)) return { text: 'it runs' };
      return runs('node waits.mjs', { background: true, notify_on_complete: true });
    });
    const running = await start(env);
    await writeFile(join(running.home, 'waits.mjs'), waitsForGo);
    const ann = telegram.addUser('Ann');
    ann.says('start it');
    await telegram.until.botShows('it runs');
    await running.kill();
    await running.restart();
    await writeFile(join(running.home, 'go'), '');
    await telegram.until.botShows('the process has ended', ann.chat, 15_000);
    await running.kill();
    await running.restart();
    ann.says('anything else?');
    const started = () => telegram.shown(ann.chat).filter(({ text }) => text.includes('it runs'));
    await expect.poll(() => started().length, { timeout: 10_000 }).toBe(2);
    expect(notices).toBe(1);
  });

  it('ends with 75 for an admin who says /restart, and tells that chat once that it is back', async () => {
    const ann = telegram.addUser('Ann');
    const running = await start({ TELEGRAM_ADMIN_USERS: String(ann.person.id) });
    ann.says('/restart');
    expect(await running.died()).toBe(75);
    await running.restart();
    await telegram.until.botShows('Back online', ann.chat);
    await running.kill();
    await running.restart();
    ann.says('/whoami');
    await telegram.until.botShows('an admin', ann.chat);
    expect(telegram.shown(ann.chat).filter(({ text }) => text.includes('Back online'))).toHaveLength(1);
  });

  it('tells in its status and its metrics when a platform gave its last sign of life', async () => {
    const running = await start();
    const startedAt = Date.now();
    const status = async () => JSON.parse(await readFile(join(running.home, 'gateway_state.json'), 'utf8'));
    await expect
      .poll(async () => (await status()).platforms, { timeout: 5_000 })
      .toContainEqual({
        name: 'telegram',
        state: { state: 'connected', account: expect.stringMatching(/^@/) },
        lastAliveAt: expect.closeTo(startedAt, -4),
      });
    const metrics = await (await fetch(`${running.url}/metrics`)).text();
    expect(metrics).toMatch(/^hermes_platform_silence_seconds \d/m);
    expect(metrics).toContain('hermes_platform_state{platform="telegram",state="connected"} 1');
  });

  it.skipIf(whyNoSmallDisk() !== null)(
    'takes no message in while the disk is full, says so, and goes on when there is space',
    async () => {
      disk = mountSmallDisk(24);
      await start({}, join(disk.folder, 'home'));
      const ann = telegram.addUser('Ann');
      ann.says('run `echo before`');
      await telegram.until.botShows('before');
      disk.fill();
      ann.says('run `echo while-full`');
      await expect.poll(readiness, { timeout: 15_000 }).toMatchObject({
        status: 503,
        body: expect.stringContaining('No space is left'),
      });
      expect(telegram.delivery.pending()).toHaveLength(1);
      expect(gateway?.log()).toContain('No space is left');
      disk.free();
      await telegram.until.botShows('while-full', ann.chat, 30_000);
      await expect.poll(readiness).toMatchObject({ status: 200 });
      expect(telegram.shown(ann.chat).filter(({ text }) => text.includes('while-full'))).toHaveLength(1);
    },
  );

  const faults = [
    ['a refused key', { kind: 'status', status: 401 }, 1],
    ['a bad request', { kind: 'status', status: 400, message: 'no such parameter' }, 1],
    ['half a stream', { kind: 'cut', afterChunks: 2 }, 1],
    ['too many requests', { kind: 'status', status: 429, retryAfter: 0 }, 1],
    ['a broken server', { kind: 'status', status: 500 }, 1],
    ['a page instead of JSON', { kind: 'garbage' }, 1],
  ] as const;

  it('answers or says what is wrong, whatever the model does, and stays up', async () => {
    const env = await withModel((request) => ({ text: `answer to ${lastSaid(request)}` }));
    const running = await start(env);
    const ann = telegram.addUser('Ann');
    for (const [name, fault, times] of faults) {
      model?.fail(fault, times);
      ann.says(`under ${name}`);
      const before = telegram.shown(ann.chat).length;
      await telegram.until.holds(
        `an answer or an error under ${name}`,
        () =>
          telegram
            .shown(ann.chat)
            .slice(before)
            .some(({ text }) => /answer to|error [0-9a-f]{6}/.test(text)),
        30_000,
      );
      expect(telegram.shown(ann.chat).at(-1)?.text).not.toContain('sk-test');
    }
    expect(running.log()).not.toContain('sk-test');
    expect((await readiness()).status).toBe(200);
  });
});

/** Notes the gateway's pid, then ends it as a crash would. */
const killer = `
import { appendFileSync, readFileSync } from 'node:fs';
const { pid } = JSON.parse(readFileSync('gateway.pid', 'utf8'));
appendFileSync('deaths', pid + '\\n');
process.kill(pid, 'SIGKILL');
`;

const waitsForGo = `
import { existsSync } from 'node:fs';
setInterval(() => existsSync('go') && process.exit(0), 50);
setTimeout(() => process.exit(1), 60_000);
`;
