import { describe, expect, test } from 'vitest';
import { withDefaults } from '../../../../platforms/telegram/options.ts';
import { createRecordingSink } from '../../../contracts/recording-sink.ts';
import { telegramRig } from '../../../emulators/telegram/rig.ts';
import { connect, connectedRig, unconnectedRig } from './connected-rig.ts';

describe('connecting', () => {
  test('with a wrong token fails for good, and says where to get one', async () => {
    const rig = await unconnectedRig({ token: '123456789:AAwrong-token-0123456789-0123456789' });
    await expect(connect(rig)).rejects.toMatchObject({
      code: 'token_invalid',
      retryable: false,
      mend: expect.stringContaining('@BotFather'),
    });
  });

  test('without a network may be tried again', async () => {
    const rig = await unconnectedRig({ apiRoot: 'http://127.0.0.1:9' });
    await expect(connect(rig)).rejects.toMatchObject({ code: 'platform_unreachable', retryable: true });
  });

  test('sets a forgotten webhook aside', async () => {
    const rig = await unconnectedRig();
    rig.emulator.delivery.setWebhook({ url: 'http://127.0.0.1:9/', secret: 's' });
    await connect(rig);
    rig.ann.says('hello');
    await rig.sink.event('hello');
  });

  test('sets the command menu once, and again only when it changed', async () => {
    const rig = await connectedRig();
    await rig.emulator.until.called('setMyCommands');
    await rig.platform.disconnect();
    await connect(rig);
    rig.ann.says('hi');
    await rig.sink.event('hi');
    expect(rig.emulator.calls.filter(({ method }) => method === 'setMyCommands')).toHaveLength(1);
  });

  test('may forget what was written meanwhile', async () => {
    const rig = await unconnectedRig({ dropStaleUpdates: true });
    rig.ann.says('stale');
    rig.ann.says('stale too');
    await connect(rig);
    rig.ann.says('fresh');
    await rig.sink.event('fresh');
    expect(rig.sink.events.map(({ text }) => text)).toEqual(['fresh']);
  });
});

describe('polling', () => {
  test('confirms an update only when it is stored', async () => {
    const rig = await connectedRig();
    rig.sink.refuse(Number.POSITIVE_INFINITY);
    rig.ann.says('precious');
    await rig.sink.state('retrying');
    expect(rig.emulator.delivery.pending()).toHaveLength(1);
    rig.sink.refuse(0);
    await rig.sink.event('precious');
    await rig.emulator.until.holds(
      'the update to be confirmed',
      () => rig.emulator.delivery.pending().length === 0,
    );
  });

  test('gets what came while it was away', async () => {
    const rig = await unconnectedRig();
    rig.ann.says('while you were out');
    await connect(rig);
    await rig.sink.event('while you were out');
  });

  test('takes updates in any order and loses none', async () => {
    const rig = await unconnectedRig();
    for (const text of ['one', 'two', 'three']) rig.ann.says(text);
    rig.emulator.delivery.reorder();
    await connect(rig);
    await rig.sink.until('three events', () => rig.sink.events[2]);
    rig.ann.says('four');
    await rig.sink.event('four');
    expect(rig.sink.events.map(({ text }) => text).sort()).toEqual(['four', 'one', 'three', 'two']);
  });

  test('is not deaf while it seems connected: a call that hangs is given up and reported', {
    timeout: 20_000,
  }, async () => {
    const rig = await connectedRig({ pollTimeoutSeconds: 1, pollGraceMs: 100 });
    rig.emulator.hang('getUpdates', 3);
    await rig.sink.state('retrying', 15_000);
    rig.ann.says('can you hear me?');
    await rig.sink.until(
      'the message',
      () => rig.sink.events.find(({ text }) => text === 'can you hear me?'),
      15_000,
    );
    await rig.sink.until('connected', () =>
      rig.sink.states.at(-1)?.state === 'connected' ? true : undefined,
    );
  });

  test('feeds the watchdog by completed calls alone', async () => {
    const rig = await connectedRig({ pollTimeoutSeconds: 1 });
    const before = rig.sink.contacts();
    await rig.sink.until('another contact', () => (rig.sink.contacts() > before ? true : undefined));
  });

  test('says nothing of one broken connection, and goes on', async () => {
    const rig = await connectedRig();
    rig.emulator.dropSocket('getUpdates');
    rig.ann.says('one');
    await rig.sink.event('one');
    rig.ann.says('two');
    await rig.sink.event('two');
    expect(rig.sink.states.map(({ state }) => state)).toEqual(['connecting', 'connected']);
  });

  test('comes back after an outage, and says both', async () => {
    const rig = await connectedRig();
    rig.emulator.fail('getUpdates', { status: 502, times: 4 });
    rig.ann.says('wake it');
    await rig.sink.state('retrying');
    await rig.sink.until('connected again', () =>
      rig.sink.states.at(-1)?.state === 'connected' ? true : undefined,
    );
    rig.ann.says('hello');
    await rig.sink.event('hello');
  });

  test('waits a little longer after each failure, up to seconds, and as long as Telegram says', async () => {
    const rig = await connectedRig({ backoff: { firstMs: 20, longestMs: 100 } });
    rig.emulator.fail('getUpdates', { status: 500, times: 6 });
    rig.ann.says('wake it');
    await rig.sink.state('retrying');
    await rig.sink.until('connected again', () =>
      rig.sink.states.at(-1)?.state === 'connected' ? true : undefined,
    );
    rig.emulator.fail('getUpdates', { status: 429, retryAfter: 1, times: 1 });
    rig.ann.says('again');
    await rig.sink.event('again');
    const waits = Array.from(rig.logged().matchAll(/"waitMs":(\d+)/g), ([, ms]) => Number(ms));
    // The first failure of unknown outcome is repeated at once.
    const longest = [40, 80, 100, 100, 100];
    expect(waits.length).toBe(6);
    for (const [index, most] of longest.entries()) {
      expect(waits[index]).toBeLessThanOrEqual(most);
      expect(waits[index]).toBeGreaterThanOrEqual(most * 0.75);
    }
    expect(waits.at(-1)).toBe(1_000);
  });

  test('comes back within five seconds of an outage; only a conflict is waited out longer', () => {
    const { backoff, conflictBackoff } = withDefaults({ token: 'x' });
    expect(backoff.longestMs).toBe(5_000);
    expect(conflictBackoff.longestMs).toBe(60_000);
  });

  test('ends with the reason when another program keeps using the token', async () => {
    const rig = await connectedRig();
    rig.emulator.fail('getUpdates', { status: 409, times: 100 });
    rig.ann.says('wake it');
    expect(await rig.sink.state('fatal')).toMatchObject({
      code: 'token_in_use',
      mend: expect.stringContaining('Stop the other program'),
    });
  });

  test('leaves the token to the other program when both keep polling', async () => {
    const one = await connectedRig();
    const two = await unconnectedRig({ token: one.emulator.token, apiRoot: one.emulator.apiRoot });
    await connect(two);
    const ended = await Promise.race([one.sink.state('fatal'), two.sink.state('fatal')]);
    expect(ended).toMatchObject({ code: 'token_in_use' });
  });

  test('survives the overlap of a deploy', async () => {
    const first = await connectedRig();
    const second = createRecordingSink();
    const other = await telegramRig({ token: first.emulator.token, apiRoot: first.emulator.apiRoot });
    await other.platform.connect(second, [], AbortSignal.timeout(5_000));
    await first.platform.disconnect();
    first.ann.says('to whoever is there');
    await second.event('to whoever is there');
    await other.platform.disconnect();
    await other.emulator.close();
  });

  test('ends when the token is revoked', async () => {
    const rig = await connectedRig();
    rig.emulator.fail('getUpdates', { status: 401, times: 2 });
    rig.ann.says('wake it');
    expect(await rig.sink.state('fatal')).toMatchObject({ code: 'token_invalid' });
  });
});

test('a press does not wait for messages that are being stored', async () => {
  const rig = await unconnectedRig();
  const card = {
    title: 'Run?',
    tone: 'warning' as const,
    blocks: [],
    buttons: [[{ id: 'b1', label: 'Once', style: 'success' as const }]],
  };
  const [payload = {}] = rig.platform.render({ kind: 'card', card });
  await rig.platform.deliver(rig.dm, payload, { key: 'k', signal: AbortSignal.timeout(5_000) });
  rig.ann.says('slow');
  const pressed = rig.ann.presses('Once');
  const { promise: slow, resolve: finish } = Promise.withResolvers<void>();
  const connected = connect({ ...rig, sink: { ...rig.sink, receive: () => slow, press: rig.sink.press } });
  expect(await pressed).toEqual(rig.sink.reply);
  finish();
  await connected;
});

test('no log line and no error holds the token, even when the API repeats it', async () => {
  const rig = await unconnectedRig();
  rig.emulator.fail('getMe', {
    status: 400,
    description: `Bad Request: /bot${rig.emulator.token}/getMe is odd`,
  });
  const error: unknown = await connect(rig).catch((reason: unknown) => reason);
  expect(String(error)).toContain('is odd');
  expect(`${String(error)} ${rig.logged()}`).not.toContain(rig.emulator.token);
});
