import { describe, expect, test } from 'vitest';
import type { TelegramOptions } from '../../../../platforms/telegram/options.ts';
import { connectedRig } from './connected-rig.ts';

async function groupRig(options: Partial<TelegramOptions> = {}) {
  const rig = await connectedRig(options);
  const group = rig.emulator.addGroup('Builders', { forum: true });
  const topic = rig.emulator.addTopic(group);
  return { ...rig, group, topic };
}

describe('in a group the bot is spoken to', () => {
  test.each([
    ['by a mention', 'hey @hermes_test_bot, look', true],
    ['by a mention whatever its case', '@Hermes_Test_Bot look', true],
    ['by a command that names it', '/status@hermes_test_bot', true],
    ['by a command of its own', '/status', true],
    ['not by a command that it does not know', '/frobnicate', false],
    ['not by any message', 'just talking', false],
    ['not by a name that begins like its own', '@hermes_test_bot_two hi', false],
  ])('%s', async (_how, text, addressed) => {
    const { ann, group, topic, sink } = await groupRig();
    for (const place of [{ in: group }, { in: group, topic }]) {
      const seen = sink.events.length;
      ann.says(text, place);
      await sink.until('the event', () => sink.events[seen]);
      expect(sink.events[seen]?.addressed).toBe(addressed);
    }
  });

  test('by a reply to it', async () => {
    const { ann, group, sink, emulator, platform } = await groupRig();
    const chat = { platform: 'telegram', kind: 'group' as const, chatId: String(group.id) };
    const [payload] = platform.render({ kind: 'text', markdown: 'my answer' });
    await platform.deliver(chat, payload ?? {}, { key: 'a', signal: AbortSignal.timeout(5_000) });
    const [answer] = emulator.shown(group);
    if (answer === undefined) throw new Error('no answer');
    ann.says('and then?', { in: group, replyTo: answer });
    const event = await sink.event('and then?');
    expect(event).toMatchObject({ addressed: true, replyTo: { messageId: String(answer.id), toBot: true } });
  });

  test('by a mention in a caption', async () => {
    const { ann, group, sink } = await groupRig();
    ann.uploads(
      { kind: 'photo', bytes: Buffer.from('x') },
      { in: group, caption: '@hermes_test_bot what is this?' },
    );
    expect(await sink.event('what is this?')).toMatchObject({
      addressed: true,
      attachments: [{ kind: 'photo' }],
    });
  });

  test('by a pattern of the configuration', async () => {
    const { ann, group, sink } = await groupRig({ mentionPatterns: ['\\bhermes\\b'] });
    ann.says('Hermes, are you there?', { in: group });
    expect(await sink.event('Hermes, are you there?')).toMatchObject({ addressed: true });
  });

  test('by anything in a free-response chat, or when no mention is asked for', async () => {
    const rig = await groupRig({ requireMention: false });
    rig.ann.says('just talking', { in: rig.group });
    expect(await rig.sink.event('just talking')).toMatchObject({ addressed: true });
    const free = await groupRig({ freeResponseChats: ['-1001000000001'] });
    const second = free.emulator.addGroup('Free');
    free.ann.says('hello', { in: second });
    expect((await free.sink.event('hello')).addressed).toBe(String(second.id) === '-1001000000001');
  });
});

describe('an event', () => {
  test('says a command without the name of the bot, and leaves out those of other bots', async () => {
    const { ann, group, sink } = await groupRig();
    ann.says('/status@another_bot', { in: group });
    ann.says('/status@hermes_test_bot now', { in: group });
    await sink.event('/status now');
    expect(sink.events).toHaveLength(1);
  });

  test('says the topic that it came from, and none for General', async () => {
    const { ann, group, topic, sink } = await groupRig();
    ann.says('in a topic', { in: group, topic });
    ann.says('in General', { in: group });
    expect((await sink.event('in a topic')).chat).toEqual({
      platform: 'telegram',
      kind: 'thread',
      chatId: String(group.id),
      threadId: String(topic),
    });
    expect((await sink.event('in General')).chat).toEqual({
      platform: 'telegram',
      kind: 'group',
      chatId: String(group.id),
    });
  });

  test('is not made of what is said in an ignored topic', async () => {
    const rig = await connectedRig({ ignoredThreads: ['102'] });
    const group = rig.emulator.addGroup('Builders', { forum: true });
    const topic = rig.emulator.addTopic(group);
    expect(topic).toBe(102);
    rig.ann.says('psst', { in: group, topic });
    rig.ann.says('aloud', { in: group });
    await rig.sink.event('aloud');
    expect(rig.sink.events).toHaveLength(1);
  });

  test('of an edited message bears the new text', async () => {
    const { ann, sink } = await connectedRig();
    const { message } = ann.says('frist');
    ann.edits(message, 'first');
    expect(await sink.event('first')).toMatchObject({ kind: 'edit', messageId: String(message.id) });
  });

  test('names the album that its picture belongs to', async () => {
    const { ann, sink } = await connectedRig();
    for (let part = 0; part < 4; part++) {
      ann.uploads(
        { kind: 'photo', bytes: Buffer.from(`p${part}`) },
        { album: 'album7', ...(part === 0 && { caption: 'four' }) },
      );
    }
    await sink.until('four parts', () => sink.events[3]);
    expect(sink.events.map(({ albumId }) => albumId)).toEqual(['album7', 'album7', 'album7', 'album7']);
    expect(new Set(sink.events.map(({ eventId }) => eventId)).size).toBe(4);
  });

  test('describes a sticker and takes the largest size of a photo', async () => {
    const { ann, sink } = await connectedRig();
    ann.uploads({ kind: 'sticker', bytes: Buffer.from('s'), emoji: '🎉' });
    ann.uploads({ kind: 'photo', bytes: Buffer.from('picture') });
    await sink.until('both', () => sink.events[1]);
    expect(sink.events[0]?.attachments).toMatchObject([{ kind: 'sticker', description: '🎉' }]);
    expect(sink.events[1]?.attachments).toMatchObject([{ kind: 'photo', ref: 'file2', bytes: 7 }]);
  });

  test('tells the language of the sender', async () => {
    const { emulator, sink } = await connectedRig();
    emulator.addUser('Иван', { locale: 'ru' }).says('привет');
    expect((await sink.event('привет')).sender).toMatchObject({ name: 'Иван', locale: 'ru' });
  });
});
