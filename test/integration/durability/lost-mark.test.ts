import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GatewayProcess, startGatewayProcess } from '../../e2e/support/gateway-process.ts';
import { createOpenAIEmulator, type OpenAIEmulator } from '../../emulators/openai/emulator.ts';
import type { ChatRequest, ScriptedReply } from '../../emulators/openai/reply.ts';
import { startTelegramEmulator, type TelegramEmulator } from '../../emulators/telegram/telegram-emulator.ts';
import type { UserHandle } from '../../emulators/telegram/user.ts';

/** The gap that no store can close: the platform has the message, and its answer never reaches the file. */
describe('a message of which the gateway never learns that it arrived', () => {
  let telegram: TelegramEmulator;
  let model: OpenAIEmulator;
  let gateway: GatewayProcess;
  beforeEach(async () => {
    telegram = await startTelegramEmulator();
    model = await createOpenAIEmulator({ answer });
    gateway = await startGatewayProcess({
      env: {
        TELEGRAM_BOT_TOKEN: telegram.token,
        TELEGRAM_API_ROOT: telegram.apiRoot,
        GATEWAY_ALLOW_ALL_USERS: 'true',
        OPENAI_BASE_URL: model.url,
        OPENAI_API_KEY: 'sk-test',
        HERMES_MODEL: 'fake',
      },
    });
  });
  afterEach(async () => {
    await gateway.dispose();
    await model.close();
    await telegram.close();
    expect(telegram.violations).toEqual([]);
  });

  const shownTo = ({ chat }: UserHandle) => telegram.shown(chat).map(({ text }) => text);
  /** Kills the gateway once, when the platform has taken the message and before it answers. */
  function killWhenTaken(isIt: (text: string) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const stop = telegram.watch({
        handedOut: () => undefined,
        called(method, fields) {
          if (!method.startsWith('send') || !isIt(JSON.stringify(fields))) return;
          stop();
          process.kill(gateway.pid, 'SIGKILL');
          resolve();
        },
      });
    });
  }

  it('shows an answer once after a kill, though others write meanwhile', async () => {
    const ann = telegram.addUser('Ann');
    const bob = telegram.addUser('Bob');
    bob.says('hello');
    await telegram.until.botShows('answer to hello', bob.chat);
    const taken = killWhenTaken((text) => text.includes('answer to one'));
    ann.says('one');
    await taken;
    await gateway.died();
    bob.says('anyone?');
    await gateway.restart();
    await telegram.until.botShows('answer to anyone?', bob.chat);
    ann.says('two');
    await telegram.until.botShows('answer to two', ann.chat);
    expect(shownTo(ann)).toEqual(['answer to one', 'answer to two']);
    expect(shownTo(bob)).toEqual(['answer to hello', 'answer to anyone?']);
    expect(telegram.shown(ann.chat).map(({ edits }) => edits)).toEqual([0, 0]);
  });

  it('shows a card once after a kill, and its buttons work', async () => {
    const ann = telegram.addUser('Ann');
    const taken = killWhenTaken((text) => text.includes('reply_markup'));
    ann.says('remove it');
    await taken;
    await gateway.died();
    await gateway.restart();
    const pressed = await ann.presses('Deny');
    expect(pressed.alert).toBe(false);
    await telegram.until.botShows('it was denied', ann.chat);
    await telegram.until.holds('no live buttons', () =>
      telegram.shown(ann.chat).every(({ keyboard }) => keyboard.length === 0),
    );
    expect(shownTo(ann).filter((text) => text.includes('scratch'))).toHaveLength(1);
  });

  it('shows an answer once after a dropped connection, within ten seconds', async () => {
    const ann = telegram.addUser('Ann');
    telegram.dropSocket('sendRichMessage', 'after');
    ann.says('one');
    await telegram.until.botShows('answer to one', ann.chat);
    ann.says('two');
    await telegram.until.botShows('answer to two', ann.chat, 10_000);
    expect(shownTo(ann)).toEqual(['answer to one', 'answer to two']);
  });

  it('sends an answer again within ten seconds when the server failed before it took it', async () => {
    const ann = telegram.addUser('Ann');
    telegram.fail('sendRichMessage', { status: 502, times: 1 });
    ann.says('one');
    await telegram.until.botShows('answer to one', ann.chat, 10_000);
    ann.says('two');
    await telegram.until.botShows('answer to two', ann.chat);
    expect(shownTo(ann)).toEqual(['answer to one', 'answer to two']);
  });
});

function answer({ messages }: ChatRequest): ScriptedReply {
  const said = String(messages.findLast(({ role }) => role === 'user')?.content);
  if (messages.at(-1)?.role === 'tool') return { text: 'it was denied' };
  if (!said.includes('remove')) return { text: `answer to ${said}` };
  return { toolCalls: [{ name: 'terminal', arguments: JSON.stringify({ command: 'rm -rf ./scratch' }) }] };
}
