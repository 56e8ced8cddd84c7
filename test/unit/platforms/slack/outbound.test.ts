import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Card, ChatAddress, OutboundContent, Payload } from '../../../../platforms/platform.ts';
import { pings } from '../../../emulators/slack/blocks.ts';
import { effectsOfCall } from '../../../emulators/slack/effects.ts';
import type { SlackUserHandle } from '../../../emulators/slack/user.ts';
import { manualClock } from './clock.ts';
import { type Bench, never, startBench, until } from './harness.ts';

let bench: Bench;
let ann: SlackUserHandle;
let dm: ChatAddress;
let keys = 0;

beforeEach(async () => {
  bench = await startBench();
  ann = bench.slack.addUser('Ann');
  dm = { platform: 'slack', kind: 'dm', chatId: ann.dm().id, workspaceId: bench.slack.team.id };
});
afterEach(() => bench.close());

const one = (content: OutboundContent): Payload => bench.platform.render(content)[0] ?? {};
const options = (key = `key-${++keys}`) => ({ key, signal: never });
const send = (content: OutboundContent, chat = dm) => bench.platform.deliver(chat, one(content), options());
const text = (markdown: string): OutboundContent => ({ kind: 'text', markdown });
const called = (method: string) => bench.slack.calls.filter((call) => call.method === method);

const card: Card = {
  title: 'Run this command?',
  tone: 'warning',
  blocks: [
    { kind: 'code', text: 'rm -rf <build> && echo @channel', marks: [{ start: 0, end: 6 }] },
    { kind: 'facts', facts: [{ label: 'Where', text: 'local' }] },
  ],
  buttons: [
    [
      { id: 'a:1:once', label: 'Once', style: 'success' },
      {
        id: 'a:1:always',
        label: 'Always',
        style: 'primary',
        confirm: 'Never ask again?',
        cancelLabel: 'Отмена',
      },
      { id: 'a:1:deny', label: 'Deny', style: 'danger', askInput: 'Why?' },
    ],
  ],
  footer: 'asked by Ann',
  expiresAt: 1_800_000_000_000,
};

describe('an answer', () => {
  it('goes out as a Markdown block, with mrkdwn for notifications and no link previews', async () => {
    const { messageId } = await send(text('**bold** and `code`'));
    const [shown] = ann.botShows();
    expect(shown).toMatchObject({ ts: messageId, text: '*bold* and `code`' });
    expect(shown?.blocks).toEqual([{ type: 'markdown', text: '**bold** and `code`' }]);
    expect(called('chat.postMessage')[0]?.args).toMatchObject({
      unfurl_links: 'false',
      unfurl_media: 'false',
    });
    expect(bench.slack.violations()).toEqual([]);
  });

  it('falls back to mrkdwn when Slack refuses the block', async () => {
    bench.slack.fail('chat.postMessage', { error: 'invalid_blocks' });
    await send(text('**bold** [a](http://x.y)'));
    expect(ann.botShows()[0]?.blocks).toEqual([
      { type: 'section', text: { type: 'mrkdwn', text: '*bold* <http://x.y/|a>', verbatim: true } },
    ]);
  });

  it('pings nobody and links nowhere whatever the model wrote', async () => {
    await send(text('<!channel> @everyone <@U123> [x](javascript:alert(1)) `<!here>`\n```\n<@U123>\n```'));
    const [shown] = ann.botShows();
    expect(pings(shown?.text ?? '', shown?.blocks ?? [])).toBe(false);
    expect(JSON.stringify(shown?.blocks)).not.toContain('](javascript:');
    expect(shown?.text).not.toContain('<javascript');
  });

  it('goes to its thread, and to the channel when the thread is gone', async () => {
    const { message } = ann.says('hi');
    const thread = { ...dm, threadId: message.ts };
    await send(text('in the thread'), thread);
    bench.slack.fail('chat.postMessage', { error: 'thread_not_found' });
    await send(text('in the channel'), thread);
    expect(ann.botShows().map(({ threadTs }) => threadTs)).toEqual([message.ts, undefined]);
  });

  it('in a thread is shown in the channel too when that is configured', async () => {
    const { message } = ann.says('hi');
    const { platform } = await bench.restart({ replyBroadcast: true });
    await platform.deliver({ ...dm, threadId: message.ts }, one(text('in both')), options());
    await platform.deliver(dm, one(text('no thread')), options());
    expect(called('chat.postMessage').map(({ args }) => args['reply_broadcast'])).toEqual([
      'true',
      undefined,
    ]);
  });

  it('that is edited replaces its text, and an equal edit succeeds', async () => {
    const { messageId } = await send(text('one'));
    await bench.platform.edit(dm, messageId, one(text('two')), never);
    await bench.platform.edit(dm, messageId, one(text('two')), never);
    expect(ann.botShows().map((shown) => shown.text)).toEqual(['two']);
  });

  it('that is removed is gone, and removing it again succeeds', async () => {
    const { messageId } = await send(text('one'));
    await bench.platform.remove(dm, messageId, never);
    await bench.platform.remove(dm, messageId, never);
    expect(ann.botShows()).toEqual([]);
  });

  it('is found again by its key after its confirmation was lost', async () => {
    bench.slack.fail('chat.postMessage', { hangUp: 'after' });
    const payload = one(text('once only'));
    await expect(bench.platform.deliver(dm, payload, options('lost'))).rejects.toMatchObject({
      code: 'send_unknown',
    });
    expect(await bench.platform.findDelivered(dm, payload, 'lost', never)).toBe(ann.botShows()[0]?.ts);
    expect(await bench.platform.findDelivered(dm, payload, 'other', never)).toBeNull();
  });

  it('is found in its thread as well', async () => {
    const { message } = ann.says('hi');
    const thread = { ...dm, threadId: message.ts };
    const payload = one(text('in the thread'));
    const { messageId } = await bench.platform.deliver(thread, payload, options('threaded'));
    expect(await bench.platform.findDelivered(thread, payload, 'threaded', never)).toBe(messageId);
  });
});

describe('an unfinished answer', () => {
  const draft = (chat: ChatAddress, markdown: string, id = 1) =>
    bench.platform.draft(chat, id, markdown, never);

  it('streams natively in a thread and becomes the answer itself', async () => {
    const { message } = ann.says('hi');
    const thread = { ...dm, threadId: message.ts };
    await draft(thread, 'One');
    await draft(thread, 'One two');
    await draft(thread, 'One two');
    const { messageId } = await send(text('One two three.'), thread);
    const [shown, ...others] = ann.botShows();
    expect(others).toEqual([]);
    expect(shown).toMatchObject({ ts: messageId, streaming: false, text: 'One two three.' });
    expect(shown?.shown).toEqual(['One', 'One two', 'One two three.']);
    expect(called('chat.appendStream')).toHaveLength(1);
    expect(bench.slack.violations()).toEqual([]);
  });

  it('pings nobody and links nowhere in any state of a native stream', async () => {
    const { message } = ann.says('hi');
    const thread = { ...dm, threadId: message.ts };
    const hostile = '<!channel> @everyone <@U123> `<!here>` [x](javascript:alert(1)) done';
    for (let end = 3; end < hostile.length; end += 3) await draft(thread, hostile.slice(0, end));
    await send(text(hostile), thread);
    expect(called('chat.appendStream').length).toBeGreaterThan(3);
    const effects = bench.slack.calls.map(effectsOfCall);
    expect(effects.flatMap(({ pings: all, links }) => [...all, ...links])).toEqual([]);
    expect(ann.botShows()).toHaveLength(1);
  });

  it('names in a channel for whom it streams', async () => {
    const channel = bench.slack.addChannel('general', 'channel', [ann]);
    ann.says(`<@${bench.slack.team.botUserId}> hi`, { channel });
    const { chat } = await until(() => bench.sink.events[0]);
    await draft(chat, 'One');
    expect(called('chat.startStream')[0]?.args).toMatchObject({ recipient_user_id: ann.id });
  });

  it('is edited where Slack has no stream', async () => {
    const { message } = ann.says('hi');
    bench.slack.fail('chat.startStream', { error: 'method_not_supported_for_channel_type' });
    const thread = { ...dm, threadId: message.ts };
    await draft(thread, 'One');
    await draft(thread, 'One two');
    const { messageId } = await send(text('One two three.'), thread);
    expect(ann.botShows().map(({ ts, text: shown }) => [ts, shown])).toEqual([[messageId, 'One two three.']]);
    expect(bench.slack.violations()).toEqual([]);
  });

  it('may change what it said before', async () => {
    const { message } = ann.says('hi');
    const thread = { ...dm, threadId: message.ts };
    await draft(thread, 'Wrong');
    await draft(thread, 'Right');
    await send(text('Right.'), thread);
    expect(ann.botShows().map((shown) => shown.text)).toEqual(['Right.']);
  });

  it('shows nothing twice when a piece of it was taken and the confirmation lost', async () => {
    const { message } = ann.says('hi');
    const thread = { ...dm, threadId: message.ts };
    await draft(thread, 'One');
    bench.slack.fail('chat.appendStream', { hangUp: 'after' });
    await expect(draft(thread, 'One two')).rejects.toMatchObject({ code: 'send_unknown' });
    await send(text('One two three.'), thread);
    expect(ann.botShows().map((shown) => shown.text)).toEqual(['One two three.']);
    expect(bench.slack.violations()).toEqual([]);
  });

  it('whose stream Slack has ended goes on as a message', async () => {
    const { message } = ann.says('hi');
    const thread = { ...dm, threadId: message.ts };
    await draft(thread, 'One');
    for (const shown of ann.botShows()) shown.streaming = false;
    await expect(draft(thread, 'One two')).rejects.toThrow();
    await draft(thread, 'One two three');
    expect(ann.botShows().map((shown) => shown.text)).toEqual(['One two three']);
  });

  it('gives way to a card', async () => {
    await draft(dm, 'Let me');
    await send({ kind: 'card', card });
    expect(ann.botShows().map((shown) => shown.blocks.at(-1)?.type)).toEqual(['actions']);
  });

  it('is taken over after a restart', async () => {
    await draft(dm, 'Half an');
    await bench.platform.disconnect();
    const { platform } = await bench.restart();
    await platform.deliver(dm, one(text('Half an answer, now whole')), options());
    expect(ann.botShows().map((shown) => shown.text)).toEqual(['Half an answer, now whole']);
  });

  it('vanishes when its turn ends without an answer, and when an earlier run left it behind', async () => {
    const clock = manualClock();
    await bench.close();
    bench = await startBench({}, true, clock);
    const bob = bench.slack.addUser('Bob');
    const chat = { ...dm, chatId: bob.dm().id, workspaceId: bench.slack.team.id };
    await draft(chat, 'Half an');
    await bench.platform.showActivity(chat, 'idle', never);
    expect(bob.botShows()).toHaveLength(1);
    clock.advance(5001);
    await until(() => bob.botShows().length === 0);
    await draft(chat, 'Another half');
    await bench.platform.disconnect();
    await bench.restart();
    clock.advance(60_001);
    await until(() => bob.botShows().length === 0);
  });

  it('survives a rate limit at its end', async () => {
    await draft(dm, 'Half an');
    bench.slack.fail('chat.update', { status: 429, retryAfter: 7 });
    const payload = one(text('whole'));
    await expect(bench.platform.deliver(dm, payload, options('k'))).rejects.toMatchObject({
      code: 'platform_rate_limited',
      retryAfterMs: 7000,
    });
    await bench.platform.deliver(dm, payload, options('k'));
    expect(ann.botShows().map((shown) => shown.text)).toEqual(['whole']);
  });
});

describe('the sign of activity', () => {
  it('is the status line of a thread', async () => {
    const threadTs = ann.opensAssistant();
    const thread = { ...dm, threadId: threadTs };
    await bench.platform.showActivity(thread, 'working', never);
    await bench.platform.showActivity(thread, 'idle', never);
    expect(bench.slack.world.threads.get(`${dm.chatId}:${threadTs}`)?.statuses).toEqual(['is thinking…', '']);
  });

  it('speaks the language of whom the bot works for', async () => {
    const vera = bench.slack.addUser('Vera', { locale: 'ru-RU' });
    const threadTs = vera.opensAssistant();
    vera.says('привет', { threadTs });
    const { chat } = await until(() => bench.sink.events[0]);
    await bench.platform.showActivity(chat, 'working', never);
    expect(bench.slack.world.threads.get(`${chat.chatId}:${threadTs}`)?.statuses).toEqual(['думает…']);
  });

  it('is a placeholder elsewhere, which the answer takes over', async () => {
    await bench.platform.showActivity(dm, 'working', never);
    await bench.platform.showActivity(dm, 'working', never);
    expect(ann.botShows()).toHaveLength(1);
    await send(text('done'));
    expect(ann.botShows().map((shown) => shown.text)).toEqual(['done']);
  });

  it('never fails a turn', async () => {
    bench.slack.fail('chat.postMessage', { error: 'channel_not_found' });
    await bench.platform.showActivity(dm, 'working', never);
    expect(ann.botShows()).toEqual([]);
  });
});

describe('a card', () => {
  it('shows its code literally, asks before Always and colours its buttons', async () => {
    await send({ kind: 'card', card });
    const [shown] = ann.botShows();
    const [title, code, facts, footer, actions] = shown?.blocks ?? [];
    expect(title).toMatchObject({ type: 'section', text: { text: '⚠️ *Run this command?*' } });
    expect(code).toMatchObject({
      elements: [
        {
          elements: [
            { text: 'rm -rf', style: { code: true, bold: true } },
            { text: ' <build> && echo @channel', style: { code: true } },
          ],
        },
      ],
    });
    expect(facts).toMatchObject({ elements: [{ elements: [{ text: 'Where: ' }, { text: 'local' }] }] });
    expect(JSON.stringify(footer)).toContain('asked by Ann · ⏳ <!date^1800000000^{time}|08:00 UTC>');
    expect(actions).toMatchObject({
      elements: [
        { text: { text: 'Once' }, style: 'primary' },
        {
          text: { text: 'Always' },
          confirm: { text: { text: 'Never ask again?' }, deny: { text: 'Отмена' } },
        },
        { text: { text: 'Deny' }, style: 'danger' },
      ],
    });
    expect(bench.slack.violations()).toEqual([]);
  });

  it('becomes its outcome without buttons', async () => {
    const { messageId } = await send({ kind: 'card', card });
    const outcome: Card = { ...card, title: 'Approved once by Ann', tone: 'success', buttons: [] };
    await bench.platform.edit(dm, messageId, one({ kind: 'card', card: outcome }), never);
    const [shown] = ann.botShows();
    expect(shown?.text).toBe('✅ *Approved once by Ann*');
    expect(shown?.blocks.some(({ type }) => type === 'actions')).toBe(false);
  });

  it('gets no second sign before a title that has one', async () => {
    await send({ kind: 'card', card: { ...card, title: '❓ A question' } });
    expect(ann.botShows()[0]?.text).toBe('*❓ A question*');
  });

  it('stays within the limits with long contents', async () => {
    const long = 'x & <y> '.repeat(700);
    const blocks = [
      { kind: 'text' as const, text: long },
      { kind: 'code' as const, text: long },
    ];
    await send({ kind: 'card', card: { ...card, blocks } });
    expect(ann.botShows()).toHaveLength(1);
    expect(bench.slack.violations()).toEqual([]);
  });

  it.each([
    ['code', { blocks: [{ kind: 'code' as const, text: 'x'.repeat(12_001) }] }],
    ['title', { title: 'x'.repeat(3001) }],
    ['footer', { footer: '<'.repeat(1000) }],
  ])('with too long a %s is refused rather than cut', (_part, more) => {
    expect(() => bench.platform.render({ kind: 'card', card: { ...card, ...more } })).toThrow(
      /larger than Slack shows/,
    );
  });
});

describe('a reaction', () => {
  it('replaces the one before, and null takes it away', async () => {
    const { message } = ann.says('hi');
    await bench.platform.react(dm, message.ts, '👀', never);
    await bench.platform.react(dm, message.ts, '👀', never);
    expect([...message.reactions.keys()]).toEqual(['eyes']);
    await bench.platform.react(dm, message.ts, '✅', never);
    expect([...message.reactions.keys()]).toEqual(['white_check_mark']);
    await bench.platform.react(dm, message.ts, null, never);
    expect(message.reactions.size).toBe(0);
  });

  it('is one call, and a look at the message only when an earlier process may have left one', async () => {
    await bench.close();
    bench = await startBench({}, true, manualClock(Date.now() - 60_000));
    const bea = bench.slack.addUser('Bea');
    const chat = { ...dm, chatId: bea.dm().id, workspaceId: bench.slack.team.id };
    const { message } = bea.says('hi');
    await bench.platform.react(chat, message.ts, '✅', never);
    const calls = bench.slack.calls.map(({ method }) => method);
    expect(calls.filter((method) => method.startsWith('reactions.'))).toEqual(['reactions.add']);
    expect([...message.reactions.keys()]).toEqual(['white_check_mark']);
  });

  it('is not put on a slash command, which is no message', async () => {
    await bench.platform.react(dm, 'command:1.2.3', '👀', never);
    expect(called('reactions.get')).toEqual([]);
    expect(called('reactions.add')).toEqual([]);
  });
});

describe('files', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slack-files-'));
  });
  afterEach(() => rm(folder, { recursive: true }));
  const outFile = async () => {
    const path = join(folder, 'report.md');
    await writeFile(path, '# report');
    return one({ kind: 'file', path, name: 'report.md', as: 'document', caption: '**Here**' });
  };

  it('go out by the external upload flow, with their caption, into the thread', async () => {
    const { message } = ann.says('hi');
    const { messageId } = await bench.platform.deliver(
      { ...dm, threadId: message.ts },
      await outFile(),
      options(),
    );
    const [shown] = ann.botShows();
    expect(shown).toMatchObject({ ts: messageId, text: '*Here*', threadTs: message.ts });
    expect(shown?.files[0]?.bytes.toString()).toBe('# report');
    expect(bench.slack.violations()).toEqual([]);
  });

  it('are found again after the confirmation was lost', async () => {
    bench.slack.fail('files.completeUploadExternal', { hangUp: 'after' });
    const payload = await outFile();
    await expect(bench.platform.deliver(dm, payload, options('f'))).rejects.toMatchObject({
      code: 'send_unknown',
    });
    expect(await bench.platform.findDelivered(dm, payload, 'f', never)).toBe(ann.botShows()[0]?.ts);
  });

  it('come in with the bot token, readable by the owner alone', async () => {
    ann.uploads('photo.png', Buffer.from('png!'), 'image/png');
    const [attachment] = (await until(() => bench.sink.events[0])).attachments;
    expect(attachment).toMatchObject({ kind: 'photo', name: 'photo.png', mimeType: 'image/png', bytes: 4 });
    const path = join(folder, 'in.png');
    await bench.platform.download(attachment ?? { kind: 'photo', ref: '' }, path, never);
    expect(await readFile(path, 'utf8')).toBe('png!');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('are refused when Slack shows its sign-in page instead', async () => {
    ann.uploads('photo.png', Buffer.from('png!'), 'image/png');
    const [attachment] = (await until(() => bench.sink.events[0])).attachments;
    bench.slack.signInPageForFiles(true);
    const path = join(folder, 'in.png');
    await expect(
      bench.platform.download(attachment ?? { kind: 'photo', ref: '' }, path, never),
    ).rejects.toMatchObject({
      code: 'platform_refused',
      message: expect.stringContaining('files:read'),
    });
    await expect(stat(path)).rejects.toThrow();
  });

  it('that lie outside Slack never get the token', async () => {
    ann.uploads('plan', Buffer.from('x'), 'text/plain');
    const [attachment] = (await until(() => bench.sink.events[0])).attachments;
    for (const file of bench.slack.world.files.values()) file.external = true;
    await expect(
      bench.platform.download(attachment ?? { kind: 'photo', ref: '' }, join(folder, 'x'), never),
    ).rejects.toMatchObject({ code: 'platform_refused', message: expect.stringContaining('outside Slack') });
  });
});

describe('a failure', () => {
  it.each([
    [{ error: 'channel_not_found' }, { code: 'chat_gone' }],
    [{ error: 'is_archived' }, { code: 'chat_gone' }],
    [
      { status: 429, retryAfter: 30 },
      { code: 'platform_rate_limited', retryAfterMs: 30_000, retryable: true },
    ],
    [{ status: 429 }, { code: 'platform_rate_limited', retryAfterMs: 1000 }],
    [{ status: 503 }, { code: 'send_unknown' }],
    [{ page: '<html>Sign in to the hotel</html>' }, { code: 'send_unknown' }],
    [{ error: 'internal_error' }, { code: 'send_unknown' }],
    [{ hangUp: 'before' as const }, { code: 'send_unknown' }],
    [
      { error: 'missing_scope', needed: 'chat:write' },
      { code: 'platform_refused', message: expect.stringContaining('chat:write') },
    ],
    [{ error: 'token_revoked' }, { code: 'token_invalid' }],
  ])('%o of a send is told as %o', async (fault, expected) => {
    bench.slack.fail('chat.postMessage', fault);
    await expect(send(text('hi'))).rejects.toMatchObject(expected);
  });

  it('to reach Slack at all is surely not delivered', async () => {
    await bench.slack.close();
    // Uses up the connection that was still open.
    await bench.platform.findDelivered(dm, one(text('hi')), 'any', never).catch(() => undefined);
    await expect(send(text('hi'))).rejects.toMatchObject({ code: 'platform_unreachable', retryable: true });
    bench = await startBench();
  });

  it('is one try: nothing is repeated behind the gateway', async () => {
    bench.slack.fail('chat.postMessage', { status: 503, times: 9 });
    await expect(send(text('hi'))).rejects.toThrow();
    expect(called('chat.postMessage')).toHaveLength(1);
  });

  it('by cancelling ends the call at once', async () => {
    bench.slack.slow(3000);
    const cancel = new AbortController();
    const sending = bench.platform.deliver(dm, one(text('hi')), { key: 'c', signal: cancel.signal });
    await until(() => called('chat.postMessage').length === 1);
    const cancelledAt = performance.now();
    cancel.abort();
    await expect(sending).rejects.toMatchObject({ code: 'send_unknown' });
    expect(performance.now() - cancelledAt).toBeLessThan(500);
  });
});
