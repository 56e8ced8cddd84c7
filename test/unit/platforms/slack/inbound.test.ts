import { afterEach, describe, expect, it } from 'vitest';
import { type Bench, startBench, until } from './harness.ts';

let bench: Bench;
afterEach(() => bench.close());

const acked = (receipts: { ackMs?: number }[]) =>
  until(() => receipts.every(({ ackMs }) => ackMs !== undefined));

describe('messages from Slack', () => {
  it('arrive from a DM as addressed, with name, language, time and workspace', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann', { locale: 'de-DE' });
    const { message } = ann.says('hello &amp; &lt;welcome&gt;');
    const event = await until(() => bench.sink.events[0]);
    expect(event).toMatchObject({
      kind: 'message',
      text: 'hello & <welcome>',
      addressed: true,
      messageId: message.ts,
      sender: { id: ann.id, name: 'ann', locale: 'de-DE', isBot: false },
      chat: { platform: 'slack', kind: 'dm', chatId: ann.dm().id, workspaceId: bench.slack.team.id },
    });
    expect(Math.abs(event.sentAt - Date.now())).toBeLessThan(5000);
    expect(bench.slack.violations()).toEqual([]);
  });

  it('carry the name that was known before when Slack does not tell it any more', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    ann.says('one');
    await until(() => bench.sink.events[0]);
    await bench.platform.disconnect();
    const { sink } = await bench.restart();
    bench.slack.fail('users.info', { status: 503, times: 9 });
    ann.says('two');
    expect((await until(() => sink.events.find(({ text }) => text === 'two'))).sender.name).toBe('ann');
  });

  it('carry the id for a name when Slack does not tell it', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    bench.slack.fail('users.info', { error: 'missing_scope', needed: 'users:read' });
    ann.says('one');
    expect((await until(() => bench.sink.events[0])).sender.name).toBe(ann.id);
  });

  it('give one event for the message and app_mention of one post', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const channel = bench.slack.addChannel('general', 'channel', [ann]);
    const { message, receipts } = ann.says(`<@${bench.slack.team.botUserId}> what is up?`, { channel });
    await acked(receipts);
    expect(receipts).toHaveLength(2);
    expect(bench.sink.events).toHaveLength(1);
    expect(bench.sink.events[0]).toMatchObject({
      text: 'what is up?',
      addressed: true,
      chat: { kind: 'thread', chatId: channel.id, threadId: message.ts },
    });
  });

  it('count as addressed by the mention alone when the app may not read the channel', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const channel = bench.slack.addChannel('general', 'channel', [ann]);
    ann.says(`<@${bench.slack.team.botUserId}> hi`, { channel, mentionOnly: true });
    expect((await until(() => bench.sink.events[0])).addressed).toBe(true);
  });

  it('are not addressed in a channel without a mention', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const channel = bench.slack.addChannel('general', 'channel', [ann]);
    ann.says('lunch?', { channel });
    expect(await until(() => bench.sink.events[0])).toMatchObject({
      addressed: false,
      chat: { kind: 'channel' },
    });
  });

  it('are addressed in a group DM only by mention, as in a channel', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const group = bench.slack.addChannel('mpdm-ann', 'mpim', [ann]);
    ann.says('hi all', { channel: group });
    ann.says(`hi <@${bench.slack.team.botUserId}>`, { channel: group });
    const [first, second] = await until(() => bench.sink.events.length === 2 && bench.sink.events);
    expect(first).toMatchObject({ addressed: false, chat: { kind: 'group' } });
    expect(second).toMatchObject({ addressed: true, chat: { kind: 'thread' } });
  });

  it('need no mention in a free-response channel, and are dropped outside the allowed ones', async () => {
    bench = await startBench(undefined, false);
    const ann = bench.slack.addUser('Ann');
    const free = bench.slack.addChannel('free', 'channel', [ann]);
    const other = bench.slack.addChannel('other', 'channel', [ann]);
    const { sink } = await bench.restart({ freeResponseChannels: [free.id], allowedChannels: [free.id] });
    const dropped = ann.says(`<@${bench.slack.team.botUserId}> here`, { channel: other });
    ann.says('anyone?', { channel: free });
    await acked(dropped.receipts);
    const event = await until(() => sink.events[0]);
    expect(event).toMatchObject({ addressed: true, text: 'anyone?' });
    expect(sink.events).toHaveLength(1);
  });

  it('stay in the channel when replies in threads are off', async () => {
    bench = await startBench({ replyInThread: false });
    const ann = bench.slack.addUser('Ann');
    const channel = bench.slack.addChannel('general', 'channel', [ann]);
    ann.says(`<@${bench.slack.team.botUserId}> hi`, { channel });
    const { chat } = await until(() => bench.sink.events[0]);
    expect(chat).toMatchObject({ kind: 'channel', chatId: channel.id });
    expect(chat.threadId).toBeUndefined();
  });

  it('turn !command into /command and name people, channels and links', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const bob = bench.slack.addUser('Bob');
    ann.says('!approve session');
    ann.says(`ask <@${bob.id}> in <#C1|ops> about <https://a.b/c|the page> and <!here>`);
    const [first, second] = await until(() => bench.sink.events.length === 2 && bench.sink.events);
    expect(first?.text).toBe('/approve session');
    expect(second?.text).toBe('ask @bob in #ops about the page (https://a.b/c) and @here');
  });

  it('of the bot itself and of other bots are ignored unless allowed', async () => {
    bench = await startBench({ allowBots: 'mentions' });
    const ann = bench.slack.addUser('Ann');
    const robot = bench.slack.addUser('Robot', { isBot: true });
    const channel = bench.slack.addChannel('general', 'channel', [ann, robot]);
    await bench.platform.deliver(
      { platform: 'slack', kind: 'channel', chatId: channel.id, workspaceId: bench.slack.team.id },
      bench.platform.render({ kind: 'text', markdown: 'my own words' })[0] ?? {},
      { key: 'k', signal: AbortSignal.timeout(5000) },
    );
    robot.says('beep', { channel });
    robot.says(`<@${bench.slack.team.botUserId}> beep`, { channel });
    const event = await until(() => bench.sink.events[0]);
    await until(() => bench.slack.receipts.every(({ ackMs }) => ackMs !== undefined));
    expect(bench.sink.events).toHaveLength(1);
    expect(event.sender.isBot).toBe(true);
  });

  it('report an edit once, with the new text', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const { message } = ann.says('helo');
    ann.edits(message, 'hello');
    const edit = await until(() => bench.sink.events.find(({ kind }) => kind === 'edit'));
    expect(edit).toMatchObject({ messageId: message.ts, text: 'hello', addressed: true });
  });

  it('leave notices such as a huddle out', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const receipt = ann.joinsHuddle(ann.dm());
    await acked([receipt]);
    expect(bench.sink.events).toEqual([]);
  });
});

describe('threads', () => {
  it('are followed without a mention once the bot takes part', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const channel = bench.slack.addChannel('general', 'channel', [ann]);
    const { message } = ann.says(`<@${bench.slack.team.botUserId}> hi`, { channel });
    ann.says('and another thing', { channel, threadTs: message.ts });
    const [, second] = await until(() => bench.sink.events.length === 2 && bench.sink.events);
    expect(second).toMatchObject({ addressed: true, chat: { kind: 'thread', threadId: message.ts } });
  });

  it('are followed after a restart too', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const channel = bench.slack.addChannel('general', 'channel', [ann]);
    const { message } = ann.says(`<@${bench.slack.team.botUserId}> hi`, { channel });
    await until(() => bench.sink.events[0]);
    await bench.platform.disconnect();
    const { sink } = await bench.restart();
    ann.says('still there?', { channel, threadTs: message.ts });
    expect(await until(() => sink.events.find(({ text }) => text === 'still there?'))).toMatchObject({
      addressed: true,
    });
  });

  it('need a mention each time when that is configured', async () => {
    bench = await startBench({ strictMention: true });
    const ann = bench.slack.addUser('Ann');
    const channel = bench.slack.addChannel('general', 'channel', [ann]);
    const { message } = ann.says(`<@${bench.slack.team.botUserId}> hi`, { channel });
    ann.says('and?', { channel, threadTs: message.ts });
    const [, second] = await until(() => bench.sink.events.length === 2 && bench.sink.events);
    expect(second?.addressed).toBe(false);
  });

  it('bring their history, with files, when the bot is called into one', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const bob = bench.slack.addUser('Bob');
    const channel = bench.slack.addChannel('general', 'channel', [ann, bob]);
    const { message: root } = ann.says('the build is red', { channel });
    bob.uploads('log.txt', Buffer.from('boom'), 'text/plain', {
      channel,
      threadTs: root.ts,
      text: 'here is the log',
    });
    ann.says(`<@${bench.slack.team.botUserId}> why?`, { channel, threadTs: root.ts });
    const asked = await until(() => bench.sink.events.find(({ text }) => text === 'why?'));
    const context = bench.sink.events.filter(({ kind }) => kind === 'context');
    expect(context.map(({ text, sender }) => `${sender.name}: ${text}`)).toEqual([
      'ann: the build is red',
      'bob: here is the log',
    ]);
    expect(context[1]?.attachments).toMatchObject([{ kind: 'document', name: 'log.txt' }]);
    expect(context.every(({ chat }) => chat.threadId === asked.chat.threadId)).toBe(true);
    expect(bench.sink.events.indexOf(asked)).toBe(bench.sink.events.length - 1);
  });

  it('are entered without history when Slack does not give it', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const channel = bench.slack.addChannel('general', 'channel', [ann]);
    const { message: root } = ann.says('the build is red', { channel });
    bench.slack.fail('conversations.replies', { error: 'missing_scope', needed: 'channels:history' });
    ann.says(`<@${bench.slack.team.botUserId}> why?`, { channel, threadTs: root.ts });
    expect(await until(() => bench.sink.events.find(({ text }) => text === 'why?'))).toMatchObject({
      addressed: true,
    });
  });
});
