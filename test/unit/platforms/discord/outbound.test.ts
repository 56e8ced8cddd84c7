import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Card, ChatAddress, OutboundContent } from '../../../../platforms/platform.ts';
import { channelTypes } from '../../../emulators/discord/discord-emulator.ts';
import { messageFlags } from '../../../emulators/discord/world.ts';
import { closeRigsAfterEach, connected, dmChat, type Rig, sendOptions, until } from './rig.ts';

closeRigsAfterEach();

const signal = () => AbortSignal.timeout(5000);

async function send(rig: Rig, chat: ChatAddress, content: OutboundContent, key?: string): Promise<string> {
  const [payload = {}] = rig.platform.render(content);
  return (await rig.platform.deliver(chat, payload, sendOptions(key))).messageId;
}

const text = (markdown: string): OutboundContent => ({ kind: 'text', markdown });
const shown = ({ emulator }: Rig, id: string) => emulator.world.messages.find((message) => message.id === id);

describe('sending', () => {
  it('shows the text, answers the message it is told to, and pings nobody', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    const ann = rig.emulator.addUser('Ann');
    const asked = ann.says('?', { channel });
    const chat = { platform: 'discord', kind: 'channel', chatId: channel.id } as const;
    const [payload = {}] = rig.platform.render(text(`hi @everyone <@${ann.id}> <@&1>`));
    const { messageId } = await rig.platform.deliver(chat, payload, { ...sendOptions(), replyTo: asked.id });
    expect(shown(rig, messageId)).toMatchObject({ reference: { messageId: asked.id }, pinged: [] });
  });

  it('has no link fetched for a preview, not even after it was a card', async () => {
    const rig = await connected();
    const chat = dmChat(rig.emulator.addUser('Ann').dm().id);
    const id = await send(rig, chat, text('https://example.com/?secret=1'));
    expect((shown(rig, id)?.flags ?? 0) & messageFlags.suppressEmbeds).not.toBe(0);
    const card = { title: 'Sure?', tone: 'question', blocks: [], buttons: [] } as const;
    const cardId = await send(rig, chat, { kind: 'card', card });
    expect(shown(rig, cardId)?.flags).toBe(0);
    const [payload = {}] = rig.platform.render(text('https://example.com/?secret=2'));
    await rig.platform.edit(chat, cardId, payload, signal());
    expect((shown(rig, cardId)?.flags ?? 0) & messageFlags.suppressEmbeds).not.toBe(0);
  });

  it('can be silent', async () => {
    const rig = await connected();
    const chat = dmChat(rig.emulator.addUser('Ann').dm().id);
    const [payload = {}] = rig.platform.render(text('psst'));
    const { messageId } = await rig.platform.deliver(chat, payload, { ...sendOptions(), silent: true });
    expect((shown(rig, messageId)?.flags ?? 0) & messageFlags.silent).not.toBe(0);
  });

  it('answering a message that is gone sends without it', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    const [payload = {}] = rig.platform.render(text('hello'));
    const options = { ...sendOptions(), replyTo: '1111111111111111111' };
    const { messageId } = await rig.platform.deliver(dmChat(ann.dm().id), payload, options);
    expect(shown(rig, messageId)?.content).toBe('hello');
  });

  it('one key shows one message', async () => {
    const rig = await connected();
    const chat = dmChat(rig.emulator.addUser('Ann').dm().id);
    const first = await send(rig, chat, text('once'), 'key');
    expect(await send(rig, chat, text('once'), 'key')).toBe(first);
    expect(rig.emulator.world.messages).toHaveLength(1);
  });

  it('an answer that was sent before a crash is found again, one that was not is not', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    const chat = dmChat(ann.dm().id);
    ann.says('question');
    const [sent = {}] = rig.platform.render(text('answer'));
    const [unsent = {}] = rig.platform.render(text('another'));
    const { messageId } = await rig.platform.deliver(chat, sent, sendOptions('a'));
    expect(await rig.platform.findDelivered(chat, sent, 'a', signal())).toBe(messageId);
    expect(await rig.platform.findDelivered(chat, unsent, 'b', signal())).toBeNull();
  });

  it('to a forum opens a post, which can be edited', async () => {
    const rig = await connected();
    const forum = rig.emulator.addChannel('news', { type: channelTypes.forum });
    const chat = { platform: 'discord', kind: 'channel', chatId: forum.id } as const;
    const id = await send(rig, chat, text('Nightly report\nall is well'));
    expect(rig.emulator.world.channels.get(id)).toMatchObject({ name: 'Nightly report', parentId: forum.id });
    const [payload = {}] = rig.platform.render(text('all is better'));
    await rig.platform.edit(chat, id, payload, signal());
    expect(shown(rig, id)?.content).toBe('all is better');
  });

  it('a post’s title is plain words, whatever the text, the card or the file begins with', async () => {
    const rig = await connected();
    const forum = rig.emulator.addChannel('news', { type: channelTypes.forum });
    const chat = { platform: 'discord', kind: 'channel', chatId: forum.id } as const;
    const titleOf = async (content: OutboundContent) =>
      rig.emulator.world.channels.get(await send(rig, chat, content))?.name;
    expect(await titleOf(text('# **<!channel>** @everyone [x](javascript:alert(1)) a_b'))).toBe(
      '<!channel @everyone x (javascript:alert(1)) ab',
    );
    expect(await titleOf(text('`'.repeat(3)))).toBe('…');
    expect(rig.emulator.world.messages.flatMap(({ pinged }) => pinged)).toEqual([]);
  });

  it('a file goes along with its caption', async () => {
    const rig = await connected();
    const path = join(await mkdtemp(join(tmpdir(), 'hermes-discord-')), 'report.csv');
    await writeFile(path, 'a,b\n1,2\n');
    const chat = dmChat(rig.emulator.addUser('Ann').dm().id);
    const id = await send(rig, chat, {
      kind: 'file',
      path,
      name: 'report.csv',
      as: 'document',
      caption: 'the report',
    });
    const message = shown(rig, id);
    expect(message?.content).toBe('the report');
    expect(message?.attachments[0]).toMatchObject({ name: 'report.csv', bytes: Buffer.from('a,b\n1,2\n') });
  });

  it('a file that is gone is refused, and says which', async () => {
    const rig = await connected();
    const chat = dmChat(rig.emulator.addUser('Ann').dm().id);
    const gone: OutboundContent = { kind: 'file', path: '/nowhere/x.pdf', name: 'x.pdf', as: 'document' };
    await expect(send(rig, chat, gone)).rejects.toMatchObject({
      code: 'platform_refused',
      message: expect.stringContaining('x.pdf cannot be read'),
    });
  });

  it('shows that the bot is typing', async () => {
    const rig = await connected();
    const channel = rig.emulator.addUser('Ann').dm();
    await rig.platform.showActivity(dmChat(channel.id), 'working', signal());
    expect(rig.emulator.world.typing).toMatchObject([{ channelId: channel.id }]);
  });
});

describe('changing what was sent', () => {
  it('an edit replaces everything, buttons included', async () => {
    const rig = await connected();
    const chat = dmChat(rig.emulator.addUser('Ann').dm().id);
    const button = { id: 'x', label: 'Yes', style: 'success' } as const;
    const question = { title: 'Sure?', tone: 'question', blocks: [], buttons: [[button]] } as const;
    const id = await send(rig, chat, { kind: 'card', card: question });
    const [outcome = {}] = rig.platform.render({
      kind: 'card',
      card: { ...question, title: 'Done', buttons: [] },
    });
    await rig.platform.edit(chat, id, outcome, signal());
    expect(shown(rig, id)).toMatchObject({ components: [], embeds: [{ title: 'Done' }] });
    await rig.platform.edit(chat, id, outcome, signal());
  });

  it('the message on which a thread hangs is changed where it is, in the channel', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    const asked = rig.emulator.addUser('Ann').asks('hello', { channel });
    const { chat } = await until(() => rig.sink.events[0]);
    await rig.platform.react(chat, asked.id, '👀', signal());
    expect([...asked.reactions.keys()]).toEqual(['👀']);
    await rig.platform.react(chat, asked.id, '✅', signal());
    expect([...asked.reactions.keys()]).toEqual(['✅']);
    await rig.platform.react(chat, asked.id, null, signal());
    expect([...asked.reactions.keys()]).toEqual([]);
  });

  it('a reaction is one call, and a look at the message only when an earlier process may have left one', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    const chat = dmChat(ann.dm().id);
    const callsFor = async (agoMs: number) => {
      const { id } = ann.says('hello', { agoMs });
      const before = rig.emulator.calls.length;
      await rig.platform.react(chat, id, '✅', signal());
      return rig.emulator.calls.slice(before).map(({ method }) => method);
    };
    expect(await callsFor(60_000)).toEqual(['PUT', 'GET']);
    expect(await callsFor(-60_000)).toEqual(['PUT']);
  });

  it('reactions can be switched off', async () => {
    const rig = await connected({ discord: { reactions: false } });
    const ann = rig.emulator.addUser('Ann');
    const said = ann.says('hello');
    await rig.platform.react(dmChat(ann.dm().id), said.id, '👀', signal());
    expect(said.reactions.size).toBe(0);
    expect(rig.platform.capabilities.reactions).toBe(false);
  });

  it('removing what is gone is fine', async () => {
    const rig = await connected();
    const chat = dmChat(rig.emulator.addUser('Ann').dm().id);
    const id = await send(rig, chat, text('bye'));
    await rig.platform.remove(chat, id, signal());
    await rig.platform.remove(chat, id, signal());
    expect(shown(rig, id)?.deleted).toBe(true);
  });
});

describe('where the bot may not embed', () => {
  const card: Card = {
    title: 'Run this?',
    tone: 'warning',
    blocks: [
      { kind: 'code', text: 'rm -rf build' },
      { kind: 'facts', facts: [{ label: 'Where', text: 'local' }] },
    ],
    buttons: [[{ id: 'x', label: 'Once', style: 'success' }]],
  };

  it('a card is plain text with its buttons, and so is its outcome', async () => {
    const rig = await connected();
    const chat = dmChat(rig.emulator.addUser('Ann').dm().id);
    rig.emulator.deny('EMBED_LINKS');
    const id = await send(rig, chat, { kind: 'card', card });
    expect(shown(rig, id)).toMatchObject({
      content: '**Run this?**\n```\nrm -rf build\n```\n**Where:** local',
      embeds: [],
      components: [{ type: 1 }],
    });
    const [outcome = {}] = rig.platform.render({
      kind: 'card',
      card: { ...card, title: 'Approved', buttons: [] },
    });
    await rig.platform.edit(chat, id, outcome, signal());
    expect(shown(rig, id)).toMatchObject({
      content: expect.stringContaining('**Approved**'),
      components: [],
    });
  });

  it('a card that would not fit is refused rather than cut', async () => {
    const rig = await connected();
    const chat = dmChat(rig.emulator.addUser('Ann').dm().id);
    rig.emulator.deny('EMBED_LINKS');
    const long: Card = { ...card, blocks: [{ kind: 'code', text: 'x'.repeat(3000) }] };
    await expect(send(rig, chat, { kind: 'card', card: long })).rejects.toMatchObject({
      code: 'platform_refused',
    });
  });
});

describe('failures, in terms of the port', () => {
  const route = 'POST /channels/{channel_id}/messages';

  it('a rate limit tells how long to wait', async () => {
    const rig = await connected();
    const chat = dmChat(rig.emulator.addUser('Ann').dm().id);
    rig.emulator.fail(route, { status: 429, retryAfter: 3 });
    const failure = await send(rig, chat, text('hi')).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'platform_rate_limited', retryable: true });
    expect(failure).toHaveProperty(
      'retryAfterMs',
      expect.toSatisfy((ms: number) => ms >= 3000 && ms < 3500),
    );
  });

  it('an emptied bucket is a rate limit before anything is sent', async () => {
    const rig = await connected();
    const chat = dmChat(rig.emulator.addUser('Ann').dm().id);
    rig.emulator.limitBuckets(2, 60_000);
    await send(rig, chat, text('1'));
    await send(rig, chat, text('2'));
    await expect(send(rig, chat, text('3'))).rejects.toMatchObject({ code: 'platform_rate_limited' });
    expect(rig.emulator.world.messages).toHaveLength(2);
  });

  it.each([
    ['a deleted channel', { status: 404, code: 10003 }, 'chat_gone'],
    ['a channel the bot was shut out of', { status: 403, code: 50001 }, 'chat_gone'],
    ['a person who takes no DMs', { status: 403, code: 50007 }, 'chat_gone'],
    ['a missing permission', { status: 403, code: 50013 }, 'platform_refused'],
    ['a request that Discord finds wrong', { status: 400, code: 50109 }, 'platform_refused'],
    ['a server error', { status: 502 }, 'send_unknown'],
    ['a connection that breaks', { hangUp: 'before' }, 'send_unknown'],
  ] as const)('%s', async (_name, fault, code) => {
    const rig = await connected();
    const chat = dmChat(rig.emulator.addUser('Ann').dm().id);
    rig.emulator.fail(route, fault);
    await expect(send(rig, chat, text('hi'))).rejects.toMatchObject({ code });
  });

  it('a message whose fate is unknown is not doubled when it is sent again', async () => {
    const rig = await connected();
    const chat = dmChat(rig.emulator.addUser('Ann').dm().id);
    rig.emulator.fail(route, { hangUp: 'after' });
    await expect(send(rig, chat, text('hi'), 'key')).rejects.toMatchObject({ code: 'send_unknown' });
    await send(rig, chat, text('hi'), 'key');
    expect(rig.emulator.world.messages).toHaveLength(1);
  });

  it('an edit that fails on Discord’s side can be tried again', async () => {
    const rig = await connected();
    const chat = dmChat(rig.emulator.addUser('Ann').dm().id);
    const id = await send(rig, chat, text('hi'));
    rig.emulator.fail('PATCH /channels/{channel_id}/messages/{message_id}', { status: 503 });
    const [payload = {}] = rig.platform.render(text('ho'));
    await expect(rig.platform.edit(chat, id, payload, signal())).rejects.toMatchObject({
      code: 'platform_unreachable',
      retryable: true,
    });
  });
});
