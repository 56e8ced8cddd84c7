import { afterEach, describe, expect, it } from 'vitest';
import { manualClock } from './clock.ts';
import { type Bench, commands, never, startBench, until } from './harness.ts';

let bench: Bench;
afterEach(() => bench.close());

describe('connecting', () => {
  it('reports the workspace and that it is connected', async () => {
    bench = await startBench();
    expect(bench.sink.states).toEqual([{ state: 'connecting' }, { state: 'connected', account: 'Acme' }]);
  });

  it('fails for good on a bad bot token, with a mend and without the token', async () => {
    bench = await startBench({ botTokens: ['xoxb-0-not-a-real-token'] }, false);
    const failure = await bench.platform
      .connect(bench.sink, commands, never)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'token_invalid',
      mend: expect.stringContaining('SLACK_BOT_TOKEN'),
    });
    expect(bench.sink.states.at(-1)).toMatchObject({ state: 'fatal', code: 'token_invalid' });
    expect(JSON.stringify([String(failure), bench.sink.states, bench.logLines])).not.toContain(
      'not-a-real-token',
    );
  });

  it('fails for good on a bad app token, naming that one', async () => {
    bench = await startBench({ appToken: 'xapp-0-not-a-real-token' }, false);
    await expect(bench.platform.connect(bench.sink, commands, never)).rejects.toMatchObject({
      code: 'token_invalid',
      mend: expect.stringContaining('SLACK_APP_TOKEN'),
    });
  });

  it('fails for good on an app token without connections:write', async () => {
    bench = await startBench(undefined, false);
    bench.slack.fail('apps.connections.open', { error: 'missing_scope', needed: 'connections:write' });
    await expect(bench.platform.connect(bench.sink, commands, never)).rejects.toMatchObject({
      code: 'token_invalid',
      mend: expect.stringContaining('connections:write'),
    });
  });

  it('names every scope that the app lacks', async () => {
    bench = await startBench(undefined, false);
    bench.slack.team.scopes = bench.slack.team.scopes.filter((scope) => scope !== 'files:read');
    await bench.platform.connect(bench.sink, commands, never);
    expect(bench.logLines.join('')).toContain('the app lacks the scope files:read');
  });

  it('serves several workspaces, each with its own token', async () => {
    bench = await startBench(undefined, false);
    const other = bench.slack.addTeam('Globex');
    const { platform, sink } = await bench.restart({
      botTokens: [bench.slack.team.botToken, other.botToken],
    });
    const ann = bench.slack.addUser('Ann');
    ann.says('hi from there', { channel: ann.dm(other) });
    const { chat } = await until(() => sink.events[0]);
    expect(chat.workspaceId).toBe(other.id);
    await platform.deliver(chat, platform.render({ kind: 'text', markdown: 'hello' })[0] ?? {}, {
      key: '1',
      signal: never,
    });
    expect(ann.botShows(ann.dm(other)).map(({ text }) => text)).toEqual(['hello']);
    expect(ann.botShows(ann.dm())).toEqual([]);
  });

  it('keeps the other workspaces when one token does not work', async () => {
    bench = await startBench(undefined, false);
    const { sink } = await bench.restart({ botTokens: ['xoxb-0-revoked-token', bench.slack.team.botToken] });
    expect(sink.states.at(-1)).toEqual({ state: 'connected', account: 'Acme' });
    expect(bench.logLines.join('')).toContain('one bot token does not work');
  });

  it('says so when Slack cannot be reached, as something to try again', async () => {
    bench = await startBench({ apiRoot: 'http://127.0.0.1:9/api/' }, false);
    await expect(bench.platform.connect(bench.sink, commands, never)).rejects.toMatchObject({
      code: 'platform_unreachable',
      retryable: true,
    });
  });
});

describe('an event', () => {
  it('is acknowledged only once it is stored, else Slack sends it again', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    bench.sink.refuseNext = 1;
    const { receipts } = ann.says('important');
    await until(() => bench.logLines.some((line) => line.includes('was not stored')));
    expect(receipts[0]?.ackMs).toBeUndefined();
    await until(() => receipts[0]?.attempts === 2 && receipts[0].ackMs !== undefined);
    expect(bench.sink.events.map(({ text }) => text)).toEqual(['important']);
  });

  it('that comes again carries the same id', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const { receipts } = ann.says('once');
    await until(() => receipts[0]?.ackMs !== undefined);
    receipts.map(bench.slack.redeliver);
    await until(() => receipts[0]?.attempts === 2);
    expect(bench.sink.events).toHaveLength(1);
  });

  it('of a workspace without the bot is acknowledged and dropped', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const stranger = bench.slack.addTeam('Stranger');
    const { receipts } = ann.says('hi', { channel: ann.dm(stranger) });
    await until(() => receipts[0]?.ackMs !== undefined);
    expect(bench.sink.events).toEqual([]);
  });

  it('of one thread stays in order while its history is fetched', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const channel = bench.slack.addChannel('general', 'channel', [ann]);
    const { message: root } = ann.says('start', { channel });
    await until(() => bench.sink.events.length === 1);
    bench.slack.slow(100);
    ann.says(`<@${bench.slack.team.botUserId}> first`, { channel, threadTs: root.ts });
    ann.says('second', { channel, threadTs: root.ts });
    await until(() => bench.sink.messages().length === 3);
    expect(bench.sink.messages().map(({ text }) => text)).toEqual(['start', 'first', 'second']);
  });
});

describe('the socket', () => {
  it('comes back after it dropped, and catches up on what came meanwhile', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const { receipts } = ann.says('before');
    await until(() => receipts[0]?.ackMs !== undefined);
    bench.slack.fail('apps.connections.open', { error: 'internal_error' });
    bench.slack.dropSocket();
    await until(() => bench.sink.states.some(({ state }) => state === 'retrying'));
    ann.says('during');
    await until(() => bench.sink.events.find(({ text }) => text === 'during'));
    expect(bench.sink.states.map(({ state }) => state)).toEqual([
      'connecting',
      'connected',
      'retrying',
      'connected',
    ]);
  });

  it('follows a refresh without a word', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    bench.slack.refreshSocket();
    await until(
      () => bench.slack.calls.filter(({ method }) => method === 'apps.connections.open').length === 2,
    );
    await until(() => bench.slack.connections() === 1);
    ann.says('hello again');
    await until(() => bench.sink.events[0]);
    expect(bench.sink.states.some(({ state }) => state === 'retrying' || state === 'fatal')).toBe(false);
  });

  it('that died without a word is noticed by its silence and replaced', async () => {
    bench = await startBench({ pingTimeoutMs: 600 });
    const ann = bench.slack.addUser('Ann');
    bench.slack.freezeSocket();
    await until(() => bench.slack.connections() === 1);
    ann.says('can you hear me?');
    expect((await until(() => bench.sink.events[0])).text).toBe('can you hear me?');
  });

  it('that Slack closes again and again is not reopened in a rush', async () => {
    bench = await startBench();
    const opened = () => bench.slack.calls.filter(({ method }) => method === 'apps.connections.open').length;
    const start = performance.now();
    for (let round = 1; round <= 4; round += 1) {
      await until(() => bench.slack.connections() === 1 && opened() === round);
      bench.slack.dropSocket();
    }
    await until(() => opened() === 5);
    expect(performance.now() - start).toBeGreaterThan(1500);
  });

  it('gives up with a fatal state when the app token is revoked', async () => {
    bench = await startBench();
    bench.slack.fail('apps.connections.open', { error: 'invalid_auth', times: 99 });
    bench.slack.dropSocket();
    const last = await until(() => {
      const state = bench.sink.states.at(-1);
      return state?.state === 'fatal' ? state : undefined;
    });
    expect(last.mend).toContain('SLACK_APP_TOKEN');
  });

  it('stays closed after disconnect', async () => {
    bench = await startBench();
    await bench.platform.disconnect();
    await until(() => bench.slack.connections() === 0);
    expect(bench.sink.states.at(-1)).toEqual({ state: 'disconnected' });
  });
});

describe('how far each channel was read', () => {
  it('is written at once for a channel that is new, and then once a second, since each write is a sync', async () => {
    const clock = manualClock();
    bench = await startBench({}, true, clock);
    const ann = bench.slack.addUser('Ann');
    const marks = () => bench.memory.list('seen:').then((list) => list.map(({ value }) => value));
    const first = ann.says('one').message;
    await until(() => bench.sink.events.length === 1);
    await expect.poll(marks).toEqual([first.ts]);
    const last = [ann.says('two'), ann.says('three')].at(-1)?.message;
    await until(() => bench.sink.events.length === 3);
    expect(await marks()).toEqual([first.ts]);
    clock.advance(1000);
    await expect.poll(marks).toEqual([last?.ts]);
  });

  it('is written when the adapter ends', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    ann.says('one');
    const last = ann.says('two').message;
    await until(() => bench.sink.events.length === 2);
    await bench.platform.disconnect();
    expect(await bench.memory.list('seen:')).toMatchObject([{ value: last.ts }]);
  });
});

describe('catching up at start', () => {
  it('tells what came in known chats and followed threads, in order, once', async () => {
    bench = await startBench();
    const ann = bench.slack.addUser('Ann');
    const channel = bench.slack.addChannel('general', 'channel', [ann]);
    const { message } = ann.says(`<@${bench.slack.team.botUserId}> hi`, { channel });
    ann.says('dm');
    await until(() => bench.sink.events.length === 2);
    await bench.platform.disconnect();
    await until(() => bench.slack.connections() === 0);
    ann.says('missed one');
    ann.says('missed two');
    ann.says('missed in thread', { channel, threadTs: message.ts });
    const { sink } = await bench.restart();
    await until(() => sink.messages().length >= 3);
    const dms = sink.messages().filter(({ chat }) => chat.kind === 'dm');
    expect(dms.map(({ text }) => text)).toEqual(['missed one', 'missed two']);
    expect(sink.events.find(({ text }) => text === 'missed in thread')).toMatchObject({ addressed: true });
    expect(bench.slack.violations()).toEqual([]);
  });
});

describe('tokens', () => {
  it('appear in no log line, whatever fails', async () => {
    bench = await startBench();
    bench.slack.fail('chat.postMessage', { hangUp: 'before' });
    const chat = { platform: 'slack', kind: 'dm' as const, chatId: 'D1', workspaceId: bench.slack.team.id };
    const payload = bench.platform.render({ kind: 'text', markdown: 'x' })[0] ?? {};
    await bench.platform.deliver(chat, payload, { key: '1', signal: never }).catch(() => undefined);
    bench.slack.dropSocket();
    await until(
      () => bench.slack.calls.filter(({ method }) => method === 'apps.connections.open').length === 2,
    );
    const all = bench.logLines.join('\n');
    expect(all).not.toContain(bench.slack.team.botToken);
    expect(all).not.toContain(bench.slack.appToken);
    expect(all).not.toContain('ticket=');
  });

  it('are needed together with a way to hear', async () => {
    bench = await startBench();
    await expect(bench.restart({ appToken: '' })).rejects.toMatchObject({ code: 'config_invalid' });
  });
});
