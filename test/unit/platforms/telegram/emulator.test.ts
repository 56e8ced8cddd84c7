import { existsSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { startTelegramEmulator } from '../../../emulators/telegram/telegram-emulator.ts';

async function emulator() {
  const telegram = await startTelegramEmulator();
  onTestFinished(telegram.close);
  const ann = telegram.addUser('Ann');
  const call = async (method: string, fields: Record<string, unknown>) => {
    const url = `${telegram.apiRoot}/bot${telegram.token}/${method}`;
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    });
    return `${answer.status} ${await answer.text()}`;
  };
  const send = (fields: Record<string, unknown>) => call('sendMessage', { chat_id: ann.chat.id, ...fields });
  return { telegram, ann, call, send };
}

test('the emulator refuses what the Bot API refuses', async () => {
  const { send, call } = await emulator();
  const keyboard = (data: string) => ({ inline_keyboard: [[{ text: 'x', callback_data: data }]] });
  expect(await send({ text: 'a'.repeat(4097) })).toMatch(/^400 .*too long/);
  expect(await send({ text: `${'a'.repeat(4095)}😀` })).toMatch(/^400 .*too long/);
  expect(await send({ text: `<b>${'a'.repeat(4096)}</b>`, parse_mode: 'HTML' })).toMatch(/^200/);
  expect(await send({ text: '<b>open', parse_mode: 'HTML' })).toMatch(/^400 .*can't parse entities/);
  expect(await send({ text: '<div>x</div>', parse_mode: 'HTML' })).toMatch(/^400 .*Unsupported start tag/);
  expect(await send({ text: '  ' })).toMatch(/^400 .*empty/);
  expect(await send({ text: 'x', reply_markup: keyboard('ж'.repeat(33)) })).toMatch(
    /^400 .*BUTTON_DATA_INVALID/,
  );
  expect(await send({ text: 'x', message_thread_id: 1 })).toMatch(/^400 .*message thread not found/);
  expect(await call('sendRichMessage', { chat_id: 1, rich_message: { markdown: 'x' } })).toMatch(
    /^400 .*chat not found/,
  );
  expect(await call('sendTelegram', {})).toMatch(/^404/);
});

test.runIf(existsSync(new URL('../../../../../shared/api-specs/telegram-bot-api.json', import.meta.url)))(
  'the emulator checks calls against the API description',
  async () => {
    const { send, telegram } = await emulator();
    expect(await send({ text: 'x', colour: 'red' })).toMatch(/unknown field colour/);
    expect(await send({ text: 7 })).toMatch(/text is not String/);
    expect(await send({})).toMatch(/text is missing/);
    expect(telegram.violations).toHaveLength(3);
  },
);

test('the emulator hands out an update until it is confirmed, and lets one poller poll', async () => {
  const { call, ann } = await emulator();
  ann.says('hello');
  const first = await call('getUpdates', { timeout: 0 });
  expect(first).toContain('hello');
  expect(await call('getUpdates', { timeout: 0 })).toBe(first);
  const id = Number(/"update_id":(\d+)/.exec(first)?.[1]);
  const held = call('getUpdates', { offset: id + 1, timeout: 20 });
  const other = call('getUpdates', { offset: id + 1, timeout: 1 });
  expect(await held).toMatch(/^409/);
  expect(await other).toBe('200 {"ok":true,"result":[]}');
});
