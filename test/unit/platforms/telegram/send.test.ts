import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ChatAddress, OutboundContent } from '../../../../platforms/platform.ts';
import { addressFor } from '../../../emulators/telegram/rig.ts';
import { hostileMarkdown } from '../format/markdown-samples.ts';
import { type ConnectedRig, connectedRig, deliverOptions } from './connected-rig.ts';

async function deliver(
  rig: ConnectedRig,
  content: OutboundContent,
  chat: ChatAddress = rig.dm,
): Promise<string[]> {
  const ids: string[] = [];
  for (const payload of rig.platform.render(content)) {
    ids.push((await rig.platform.deliver(chat, payload, deliverOptions())).messageId);
  }
  return ids;
}
const answer = (markdown: string): OutboundContent => ({ kind: 'text', markdown });
const methodsOf = ({ emulator }: ConnectedRig) =>
  emulator.calls
    .map(({ method }) => method)
    .filter((method) => method.startsWith('send') || method.startsWith('edit'));

describe('an answer', () => {
  test('goes out rich, with its table and its formula', async () => {
    const rig = await connectedRig();
    const markdown = '## Sum\n\n$x^2$ is\n\n| a | b |\n| --- | --- |\n| 1 | 2 |';
    await deliver(rig, answer(markdown));
    expect(rig.emulator.shown(rig.ann.chat)).toMatchObject([{ source: { rich: markdown } }]);
    expect(rig.emulator.violations).toEqual([]);
  });

  test('goes out as HTML when its rich form is refused, and plain when that is refused too', async () => {
    const rig = await connectedRig();
    rig.emulator.fail('sendRichMessage', {
      status: 400,
      description: "Bad Request: can't parse rich message",
    });
    await deliver(rig, answer('**bold** _it_'));
    rig.emulator.fail('sendRichMessage', { status: 400, description: 'Bad Request: RICH_MESSAGE_INVALID' });
    rig.emulator.fail('sendMessage', {
      status: 400,
      description: "Bad Request: can't parse entities: unsupported start tag",
    });
    await deliver(rig, answer('**bold** _it_'));
    expect(rig.emulator.shown(rig.ann.chat).map(({ source }) => source)).toEqual([
      { text: '<b>bold</b> <i>it</i>', parseMode: 'HTML' },
      { text: '**bold** _it_' },
    ]);
  });

  test('asks an old server once only for what it does not know', async () => {
    const rig = await connectedRig({}, { unknownMethods: ['sendRichMessage'] });
    await deliver(rig, answer('one'));
    await deliver(rig, answer('two'));
    expect(methodsOf(rig)).toEqual(['sendRichMessage', 'sendMessage', 'sendMessage']);
  });

  test('is not sent in another form when the chat asks for patience', async () => {
    const rig = await connectedRig();
    rig.emulator.fail('sendRichMessage', { status: 429, retryAfter: 30 });
    await expect(deliver(rig, answer('x'))).rejects.toMatchObject({
      code: 'platform_rate_limited',
      retryAfterMs: 30_000,
    });
    expect(methodsOf(rig)).toEqual(['sendRichMessage']);
  });

  test('pings nobody and links nowhere at the word of a model, in any form', async () => {
    for (const unknownMethods of [[], ['sendRichMessage']]) {
      const rig = await connectedRig({}, { unknownMethods });
      await deliver(rig, answer(`${hostileMarkdown} @durov [me](tg://user?id=1)`));
      const [message] = rig.emulator.shown(rig.ann.chat);
      if (message === undefined) throw new Error('nothing was sent');
      const { source } = message;
      const call = rig.emulator.calls.findLast(({ method }) => method.startsWith('send'));
      if (source.rich === undefined) expect(source.text).not.toMatch(/@durov|@everyone|<a /);
      else expect(call?.fields).toMatchObject({ rich_message: { skip_entity_detection: true } });
      expect(source.rich ?? source.text).not.toMatch(/javascript:|tg:\/\/user/);
    }
  });

  test('goes to the chat when its topic is gone', async () => {
    const rig = await connectedRig();
    const group = rig.emulator.addGroup('Builders', { forum: true });
    await deliver(rig, answer('still'), { ...addressFor(group), kind: 'thread', threadId: '4242' });
    expect(rig.emulator.shown(group)).toMatchObject([{ text: 'still' }]);
  });

  test('follows a group that became a supergroup, and asks the old one once only', async () => {
    const rig = await connectedRig();
    const [old, now] = [rig.emulator.addGroup('Old'), rig.emulator.addGroup('New')];
    rig.emulator.world.moved.set(old.id, now.id);
    await deliver(rig, answer('one'), addressFor(old));
    await deliver(rig, answer('two'), addressFor(old));
    expect(rig.emulator.shown(now).map(({ text }) => text)).toEqual(['one', 'two']);
    expect(methodsOf(rig)).toHaveLength(3);
  });

  test.each([
    ['topic 42 names it', true],
    ['General (id 1) names none', false],
  ])('and every other call about %s', async (_what, isTopic) => {
    const rig = await connectedRig();
    const { emulator, platform } = rig;
    const group = emulator.addGroup('Builders', { forum: true });
    const topic = isTopic ? emulator.addTopic(group) : 1;
    const chat: ChatAddress = { ...addressFor(group), kind: 'thread', threadId: String(topic) };
    const folder = await mkdtemp(join(tmpdir(), 'telegram-send-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'a.txt');
    await writeFile(path, 'x');
    const before = emulator.calls.length;
    await deliver(rig, answer('hello'), chat);
    await deliver(rig, { kind: 'progress', lines: ['working'] }, chat);
    await deliver(rig, { kind: 'file', path, name: 'a.txt', as: 'document' }, chat);
    const card = { title: 'May I?', tone: 'warning', blocks: [], buttons: [] } as const;
    await deliver(rig, { kind: 'card', card }, chat);
    await platform.showActivity(chat, 'working', deliverOptions().signal);
    const calls = emulator.calls.slice(before).filter(({ method }) => method.startsWith('send'));
    expect(calls.map(({ method }) => method)).toEqual([
      'sendRichMessage',
      'sendMessage',
      'sendDocument',
      'sendMessage',
      'sendChatAction',
    ]);
    const named = calls.map(({ fields }) => fields['message_thread_id']);
    expect(new Set(named)).toEqual(new Set([isTopic ? topic : undefined]));
  });

  test('names no thread in General', async () => {
    const rig = await connectedRig();
    const group = rig.emulator.addGroup('Builders', { forum: true });
    await deliver(rig, answer('hi'), { ...addressFor(group), threadId: '1' });
    expect(rig.emulator.calls.at(-1)?.fields).not.toHaveProperty('message_thread_id');
  });

  test('stays below 4096 units in every form, and loses nothing', async () => {
    const rig = await connectedRig({}, { unknownMethods: ['sendRichMessage'] });
    await deliver(rig, answer(`${'a'.repeat(4095)}😀 ${'<&>'.repeat(3000)}`));
    const shown = rig.emulator
      .shown(rig.ann.chat)
      .map(({ text }) => text)
      .join('');
    expect(shown.replaceAll(/\s/g, '')).toBe(`${'a'.repeat(4095)}😀${'<&>'.repeat(3000)}`);
    expect(rig.emulator.violations).toEqual([]);
  });

  test('is silent and without link previews when so configured; a card rings all the same', async () => {
    const rig = await connectedRig(
      { silent: true, linkPreviews: false },
      { unknownMethods: ['sendRichMessage'] },
    );
    await deliver(rig, answer('https://example.com'));
    expect(rig.emulator.calls.at(-1)?.fields).toMatchObject({
      disable_notification: true,
      link_preview_options: { is_disabled: true },
    });
    await deliver(rig, { kind: 'card', card: { title: 'Run?', tone: 'warning', blocks: [], buttons: [] } });
    expect(rig.emulator.calls.at(-1)?.fields).not.toHaveProperty('disable_notification');
  });
});

describe('an edit', () => {
  test('of a stream falls back as a send does', async () => {
    const rig = await connectedRig();
    const [id = ''] = await deliver(rig, answer('begun'));
    rig.emulator.fail('editMessageText', {
      status: 400,
      description: "Bad Request: can't parse rich message",
    });
    const [payload = {}] = rig.platform.render(answer('**done**'));
    await rig.platform.edit(rig.dm, id, payload, deliverOptions().signal);
    expect(rig.emulator.shown(rig.ann.chat)).toMatchObject([{ source: { text: '<b>done</b>' } }]);
  });

  test('of a message that is gone is refused for good', async () => {
    const rig = await connectedRig();
    const [payload = {}] = rig.platform.render(answer('x'));
    await expect(rig.platform.edit(rig.dm, '99999', payload, deliverOptions().signal)).rejects.toMatchObject({
      code: 'platform_refused',
      retryable: false,
    });
  });
});

describe('a file', () => {
  test('that is no picture after all goes as a document', async () => {
    const rig = await connectedRig();
    const folder = await mkdtemp(join(tmpdir(), 'telegram-send-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'p.png');
    await writeFile(path, 'no picture');
    await deliver(rig, { kind: 'file', path, name: 'p.png', as: 'photo', caption: '**see**' });
    expect(methodsOf(rig).at(-1)).toBe('sendDocument');
    expect(rig.emulator.shown(rig.ann.chat)).toMatchObject([{ text: 'see', file: { name: 'p.png' } }]);
  });

  test('whose upload breaks off may have arrived, and the failure says so without the token', async () => {
    const rig = await connectedRig();
    const folder = await mkdtemp(join(tmpdir(), 'telegram-send-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'a.txt');
    await writeFile(path, 'text');
    rig.emulator.dropSocket('sendDocument', 'after');
    const error: unknown = await deliver(rig, { kind: 'file', path, name: 'a.txt', as: 'document' }).catch(
      (reason) => reason,
    );
    expect(error).toMatchObject({ code: 'send_unknown' });
    expect(inspect(error, { depth: 5 })).not.toContain(rig.emulator.token);
  });

  test('keeps its name as far as a header can hold it', async () => {
    const rig = await connectedRig();
    const folder = await mkdtemp(join(tmpdir(), 'telegram-send-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'a.txt');
    await writeFile(path, 'x');
    const name = 'my notes; "final"\r\nx: y/жук 🐞.txt';
    await deliver(rig, { kind: 'file', path, name, as: 'document' });
    expect(rig.emulator.shown(rig.ann.chat)[0]?.file?.name).toBe('my notes_ _final___x: y_жук 🐞.txt');
  });

  test('that is not there any more is refused by name', async () => {
    const rig = await connectedRig();
    const gone = deliver(rig, {
      kind: 'file',
      path: '/nowhere/at-all.txt',
      name: 'at-all.txt',
      as: 'document',
    });
    await expect(gone).rejects.toMatchObject({
      code: 'platform_refused',
      message: expect.stringContaining('at-all.txt'),
    });
  });

  test('above 20 MB is said to be too big, before anything is fetched', async () => {
    const rig = await connectedRig();
    const attachment = { kind: 'document' as const, ref: 'f', name: 'film.mkv', bytes: 25 * 2 ** 20 };
    await expect(rig.platform.download(attachment, '/tmp/never', deliverOptions().signal)).rejects.toThrow(
      /film.mkv.*25 MB.*20 MB/,
    );
  });
});

describe('a draft', () => {
  test('is rich where it can be', async () => {
    const rig = await connectedRig();
    await rig.platform.draft(rig.dm, 7, 'Think **ing', deliverOptions().signal);
    expect(rig.emulator.drafts).toMatchObject([{ text: 'Think **ing' }]);
  });

  test('is HTML on an older server, and says so when there are none', async () => {
    const older = await connectedRig({}, { unknownMethods: ['sendRichMessageDraft'] });
    await older.platform.draft(older.dm, 7, '**x**', deliverOptions().signal);
    expect(older.emulator.drafts).toMatchObject([{ text: 'x' }]);
    const oldest = await connectedRig({}, { unknownMethods: ['sendRichMessageDraft', 'sendMessageDraft'] });
    for (let time = 0; time < 2; time++) {
      await expect(oldest.platform.draft(oldest.dm, 7, 'x', deliverOptions().signal)).rejects.toMatchObject({
        code: 'platform_refused',
      });
    }
    expect(oldest.emulator.calls.filter(({ method }) => method.includes('Draft'))).toHaveLength(2);
  });
});

test('a reaction is set and taken away', async () => {
  const rig = await connectedRig();
  const { message } = rig.ann.says('hi');
  await rig.sink.event('hi');
  await rig.platform.react(rig.dm, String(message.id), '👀', deliverOptions().signal);
  expect(message.reaction).toBe('👀');
  await rig.platform.react(rig.dm, String(message.id), null, deliverOptions().signal);
  expect(message.reaction).toBeUndefined();
});

test('a sign of work is shown in the topic that it is for', async () => {
  const rig = await connectedRig();
  const group = rig.emulator.addGroup('Builders', { forum: true });
  const topic = rig.emulator.addTopic(group);
  const chat = { ...addressFor(group), kind: 'thread' as const, threadId: String(topic) };
  await rig.platform.showActivity(chat, 'working', deliverOptions().signal);
  expect(rig.emulator.calls.at(-1)).toMatchObject({
    method: 'sendChatAction',
    fields: { message_thread_id: topic },
  });
});
