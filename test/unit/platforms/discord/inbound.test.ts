import { mkdtemp, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChatAddress } from '../../../../platforms/platform.ts';
import { channelTypes } from '../../../emulators/discord/discord-emulator.ts';
import { effectsOfCall } from '../../../emulators/discord/effects.ts';
import { closeRigsAfterEach, connected, type Rig, sendOptions, until } from './rig.ts';

closeRigsAfterEach();

const texts = ({ sink }: Rig): string[] => sink.events.map(({ text }) => text);

function named({ emulator }: Rig, name: string) {
  const channel = [...emulator.world.channels.values()].find((candidate) => candidate.name === name);
  if (channel === undefined) throw new Error(`no channel ${name}`);
  return channel;
}

/** Everything said in this chat so far is handled once this arrives, since a chat keeps its order. */
async function settled(rig: Rig, channel: { id: string }): Promise<void> {
  const there = rig.emulator.world.channels.get(channel.id);
  rig.emulator.addUser('Zed').asks('settled', { channel: there });
  await until(() => texts(rig).includes('settled'));
}

describe('messages to the Discord bot', () => {
  it('a direct message reaches the gateway as it was written', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    const said = ann.says('hello **there**');
    expect(await until(() => rig.sink.events[0])).toMatchObject({
      eventId: `m${said.id}`,
      kind: 'message',
      chat: { platform: 'discord', kind: 'dm', chatId: ann.dm().id },
      sender: { id: ann.id, name: 'Ann', isBot: false },
      text: 'hello **there**',
      addressed: true,
    });
  });

  it('in a channel only what names the bot is heard', async () => {
    const rig = await connected({ discord: { autoThread: false } });
    const channel = rig.emulator.addChannel('general');
    const ann = rig.emulator.addUser('Ann');
    ann.says('not for the bot', { channel });
    ann.asks('for the bot', { channel });
    await settled(rig, channel);
    expect(texts(rig)).toEqual(['for the bot', 'settled']);
    expect(rig.sink.events[0]).toMatchObject({
      chat: { platform: 'discord', kind: 'channel', chatId: channel.id },
      chatTitle: 'general',
    });
  });

  it('the role that Discord made for the bot counts as its name', async () => {
    const rig = await connected({ discord: { autoThread: false } });
    const channel = rig.emulator.addChannel('general');
    const role = rig.emulator.guild.roles.find(({ botId }) => botId !== undefined);
    rig.emulator.addUser('Ann').says(`<@&${role?.id}> hello`, { channel });
    await until(() => texts(rig)[0] === 'hello');
  });

  it('a reply to the bot is heard without a mention and stays in its channel', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    const chat = { platform: 'discord', kind: 'channel', chatId: channel.id } as const;
    const [payload = {}] = rig.platform.render({ kind: 'text', markdown: 'Shall I?' });
    await rig.platform.deliver(chat, payload, { key: 'k', signal: AbortSignal.timeout(5000) });
    const ann = rig.emulator.addUser('Ann');
    const [question] = ann.botShows(channel);
    ann.says('Yes', { channel, ...(question === undefined ? {} : { replyTo: question }) });
    expect(await until(() => rig.sink.events[0])).toMatchObject({
      chat,
      text: 'Yes',
      replyTo: { messageId: question?.id, text: 'Shall I?', toBot: true },
    });
  });

  it('mentions of others, channels, roles and emoji are written as people read them', async () => {
    const rig = await connected({ discord: { autoThread: false } });
    const channel = rig.emulator.addChannel('general');
    const bob = rig.emulator.addUser('Bob');
    const ann = rig.emulator.addUser('Ann');
    ann.asks(`ask <@${bob.id}> in <#${channel.id}> about <a:party:123456789012345678>`, { channel });
    await until(() => texts(rig)[0] === 'ask @Bob in #general about :party:');
  });

  it('sends along the roles of the sender', async () => {
    const rig = await connected({ discord: { autoThread: false } });
    const channel = rig.emulator.addChannel('general');
    rig.emulator.addUser('Ann', { roles: ['111111111111111111'] }).asks('hi', { channel });
    expect((await until(() => rig.sink.events[0])).sender.roles).toEqual(['111111111111111111']);
  });

  it('allowed channels exclude the others, and ignored ones are silent', async () => {
    const rig = await connected({
      discord: (emulator) => {
        const [here, hush] = [emulator.addChannel('here').id, emulator.addChannel('hush').id];
        return { autoThread: false, allowedChannels: [here, hush], ignoredChannels: [hush] };
      },
    });
    const ann = rig.emulator.addUser('Ann');
    ann.asks('elsewhere', { channel: rig.emulator.addChannel('elsewhere') });
    ann.asks('hush', { channel: named(rig, 'hush') });
    ann.asks('here', { channel: named(rig, 'here') });
    await settled(rig, named(rig, 'here'));
    expect(texts(rig)).toEqual(['here', 'settled']);
  });

  it('a free-response channel needs no mention and opens no threads', async () => {
    const rig = await connected({
      discord: (emulator) => ({ freeResponseChannels: [emulator.addChannel('free').id] }),
    });
    rig.emulator.addUser('Ann').says('just so', { channel: named(rig, 'free') });
    expect(await until(() => rig.sink.events[0])).toMatchObject({
      text: 'just so',
      chat: { kind: 'channel' },
    });
  });

  it('other bots are ignored unless they are allowed', async () => {
    const strict = await connected();
    const strictBot = strict.emulator.addUser('Robo', { isBot: true });
    strictBot.says('beep');
    strict.emulator.addUser('Ann').says('hi');
    await until(() => texts(strict).includes('hi'));
    expect(texts(strict)).toEqual(['hi']);
    const open = await connected({ discord: { allowBots: 'all' } });
    open.emulator.addUser('Robo', { isBot: true }).says('beep');
    expect((await until(() => open.sink.events[0])).sender.isBot).toBe(true);
  });

  it('an edit carries the new text under an id of its own, and a looked-up link is no edit', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    const said = ann.says('helo');
    ann.edits(said, 'hello');
    const edit = await until(() => rig.sink.events[1]);
    expect(edit).toMatchObject({ kind: 'edit', messageId: said.id, text: 'hello' });
    rig.emulator.redeliver('MESSAGE_UPDATE');
    await until(() => rig.sink.events[2]);
    expect(rig.sink.events[2]?.eventId).toBe(edit.eventId);
  });

  it('an event that could not be stored is tried again, and the next of its chat waits for it', async () => {
    const rig = await connected();
    let failures = 2;
    rig.sink.onReceive = async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('the disk is full');
    };
    const ann = rig.emulator.addUser('Ann');
    ann.says('one');
    ann.says('two');
    await until(() => rig.sink.events.length === 2);
    expect(texts(rig)).toEqual(['one', 'two']);
  });

  it('a file is described, and downloaded with a fresh link readable by the owner alone', async () => {
    const rig = await connected();
    const ann = rig.emulator.addUser('Ann');
    ann.uploads('photo.png', Buffer.from('pixels'), 'image/png', { text: 'look' });
    const [attachment] = (await until(() => rig.sink.events[0])).attachments;
    if (attachment === undefined) throw new Error('no attachment');
    expect(attachment).toMatchObject({ kind: 'photo', name: 'photo.png', mimeType: 'image/png', bytes: 6 });
    const path = join(await mkdtemp(join(tmpdir(), 'hermes-discord-')), 'photo.png');
    await rig.platform.download(attachment, path, AbortSignal.timeout(5000));
    expect(await readFile(path, 'utf8')).toBe('pixels');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('a file above the limit is refused with its limit', async () => {
    const rig = await connected();
    const big = { kind: 'document', ref: 'file/1/2/3', name: 'big.iso', bytes: 40 * 1_048_576 } as const;
    await expect(rig.platform.download(big, '/dev/null', AbortSignal.timeout(5000))).rejects.toMatchObject({
      code: 'platform_refused',
      message: 'big.iso is larger than 32 MiB.',
    });
  });
});

describe('threads', () => {
  const signal = () => AbortSignal.timeout(5000);

  async function answer({ platform }: Rig, chat: ChatAddress, markdown = 'an answer', replyTo?: string) {
    const [payload = {}] = platform.render({ kind: 'text', markdown });
    const options = { ...sendOptions(), ...(replyTo === undefined ? {} : { replyTo }) };
    return (await platform.deliver(chat, payload, options)).messageId;
  }

  function threadsIn({ emulator }: Rig, channel: { id: string }) {
    return [...emulator.world.channels.values()].filter(({ parentId }) => parentId === channel.id);
  }

  it('a mention in a channel begins one: its id is known before it is there, so the session is the thread’s', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    const said = rig.emulator.addUser('Ann').asks('why is the **build** red?', { channel });
    const { chat } = await until(() => rig.sink.events[0]);
    expect(chat).toEqual({ platform: 'discord', kind: 'thread', chatId: channel.id, threadId: said.id });
    await rig.platform.showActivity(chat, 'working', signal());
    expect(threadsIn(rig, channel)).toMatchObject([{ id: said.id, name: 'why is the build red?' }]);
  });

  it('is named in plain words, whatever its first message holds, and pings nobody', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    const ann = rig.emulator.addUser('Ann');
    const asked = ann.asks(`@everyone <@${ann.id}> **[x](javascript:alert(1))**`, { channel });
    const { chat } = await until(() => rig.sink.events[0]);
    await rig.platform.showActivity(chat, 'working', AbortSignal.timeout(5000));
    expect(rig.emulator.world.channels.get(asked.id)?.name).toBe('@everyone @Ann [x](javascript:alert(1))');
    expect(rig.emulator.calls.flatMap((call) => effectsOfCall(call, rig.emulator.world).pings)).toEqual([]);
  });

  it('a mention that the gateway does not answer leaves no trace', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    rig.emulator.addUser('Stranger').asks('hello', { channel });
    await until(() => rig.sink.events[0]);
    await settled(rig, channel);
    expect(threadsIn(rig, channel)).toEqual([]);
  });

  it('in that thread nobody needs to mention the bot, not even after a restart', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    const ann = rig.emulator.addUser('Ann');
    const said = ann.asks('hello', { channel });
    await answer(rig, (await until(() => rig.sink.events[0])).chat);
    const [thread] = threadsIn(rig, channel);
    if (thread === undefined) throw new Error('there is no thread');
    ann.says('and more', { channel: thread });
    expect((await until(() => rig.sink.events[1])).chat.threadId).toBe(said.id);
    thread.ownerId = ann.id;
    await rig.restart();
    ann.says('still there?', { channel: thread });
    await until(() => texts(rig).includes('still there?'));
  });

  it('one message opens one thread, however many answers begin at once', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    rig.emulator.addUser('Ann').asks('hello', { channel });
    const { chat } = await until(() => rig.sink.events[0]);
    rig.emulator.redeliver('MESSAGE_CREATE');
    await Promise.all([answer(rig, chat, 'one'), answer(rig, chat, 'two'), answer(rig, chat, 'three')]);
    await until(() => rig.sink.events[1]);
    expect(rig.sink.events[1]?.chat).toEqual(chat);
    expect(threadsIn(rig, channel)).toHaveLength(1);
    expect(rig.emulator.calls.filter(({ path }) => path.endsWith('/threads'))).toHaveLength(1);
  });

  it('a thread that somebody else has opened on the message meanwhile is used', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    const said = rig.emulator.addUser('Ann').asks('hello', { channel });
    const { chat } = await until(() => rig.sink.events[0]);
    rig.emulator.fail('POST /channels/{channel_id}/messages/{message_id}/threads', {
      status: 400,
      code: 160004,
    });
    rig.emulator.addThreadQuietly(channel, said);
    await answer(rig, chat);
    expect(rig.emulator.world.messages.at(-1)?.channelId).toBe(said.id);
  });

  it('without the permission the conversation goes on in the channel, tied together by replies', async () => {
    const rig = await connected();
    rig.emulator.deny('CREATE_PUBLIC_THREADS');
    const channel = rig.emulator.addChannel('general');
    const ann = rig.emulator.addUser('Ann');
    const said = ann.asks('hello', { channel });
    const { chat } = await until(() => rig.sink.events[0]);
    const first = await answer(rig, chat, 'hello Ann', said.id);
    expect(rig.logs.some((line) => line.includes('Missing Permissions'))).toBe(true);
    const shown = ann.botShows(channel).find(({ id }) => id === first);
    if (shown === undefined) throw new Error('the answer is not in the channel');
    expect(shown.reference?.messageId).toBe(said.id);
    const reply = ann.says('go on', { channel, replyTo: shown });
    expect((await until(() => rig.sink.events[1])).chat).toEqual(chat);
    await answer(rig, chat, 'gone on', reply.id);
    expect(ann.botShows(channel).at(-1)?.reference?.messageId).toBe(said.id);
    await rig.restart();
    const [payload = {}] = rig.platform.render({ kind: 'text', markdown: 'changed' });
    await rig.platform.edit(chat, first, payload, signal());
    expect(shown.content).toBe('changed');
  });

  it('in a thread of others the bot needs a mention once', async () => {
    const rig = await connected();
    const channel = rig.emulator.addChannel('general');
    const ann = rig.emulator.addUser('Ann');
    const thread = ann.startsThread(channel, 'lunch');
    ann.says('pizza?', { channel: thread });
    ann.asks('what do you think?', { channel: thread });
    ann.says('and dessert?', { channel: thread });
    await until(() => rig.sink.events.length === 2);
    expect(texts(rig)).toEqual(['what do you think?', 'and dessert?']);
    expect(rig.sink.events[0]?.chat).toMatchObject({
      kind: 'thread',
      chatId: channel.id,
      threadId: thread.id,
    });
  });

  it('a forum post that mentions the bot is a thread of its own', async () => {
    const rig = await connected();
    const forum = rig.emulator.addChannel('help', { type: channelTypes.forum });
    const post = rig.emulator
      .addUser('Ann')
      .postsInForum(forum, 'It is broken', `<@${rig.emulator.world.bot.id}> please help`);
    expect(await until(() => rig.sink.events[0])).toMatchObject({
      chat: { kind: 'thread', chatId: forum.id, threadId: post.channelId },
      chatTitle: 'It is broken',
      text: 'please help',
    });
  });
});
