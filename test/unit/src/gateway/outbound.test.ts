import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatAddress, OlderMessage } from '../../../../platforms/platform.ts';
import { GatewayError } from '../../../../src/errors.ts';
import { createOutbound, type Outbound } from '../../../../src/gateway/outbound/outbound.ts';
import { newRow } from '../../../../src/gateway/turn/answer.ts';
import { silentLog } from '../../../../src/log.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts';
import type { Store } from '../../../../src/store/store.ts';
import { createMemoryPlatform, type MemoryPlatform } from '../../../support/memory-platform.ts';
import { createTestClock, type TestClock } from '../../../support/test-clock.ts';

const chat = (chatId: string): ChatAddress => ({ platform: 'telegram', kind: 'dm', chatId });

describe('the outbound scheduler', () => {
  let folder: string;
  let store: Store;
  let clock: TestClock;
  let platform: MemoryPlatform;
  let outbound: Outbound;
  const dead: string[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hermes-outbound-'));
    store = openSqliteStore(join(folder, 'state.db'));
    clock = createTestClock();
    platform = createMemoryPlatform();
    dead.length = 0;
    outbound = createOutbound({
      store,
      clock,
      log: silentLog,
      platforms: new Map([['telegram', platform]]),
      onDead: (_row, { error }) => dead.push(error),
      onSent: () => undefined,
    });
  });
  afterEach(async () => {
    outbound.stop();
    await store.close();
    await rm(folder, { recursive: true });
  });

  async function say(markdown: string, chatId = '1'): Promise<number> {
    const [payload] = platform.render({ kind: 'text', markdown });
    if (!payload) throw new Error('nothing to send');
    const target = { key: `s${chatId}`, chat: chat(chatId) };
    const row = await store.transaction((tables) =>
      tables.outbox.add(newRow(target, { kind: 'send', payload }, 'final', clock.now())),
    );
    outbound.push([row]);
    return row.id;
  }
  const stateOf = async (id: number) => (await store.read.outbox.get(id))?.state;
  const fail = (code: GatewayError['code'], retryAfterMs?: number) =>
    platform.failNext.push(
      new GatewayError(code, code, { ...(retryAfterMs !== undefined && { retryAfterMs }) }),
    );

  it('marks a row with the id of the message that it became', async () => {
    const id = await say('hello');
    await expect.poll(() => stateOf(id)).toBe('sent');
    expect((await store.read.outbox.get(id))?.messageId).toBe(platform.shown[0]?.id);
  });

  it('waits after a 429 as long as the platform says, in order, and holds up no other chat', async () => {
    fail('platform_rate_limited', 30_000);
    await say('one');
    await expect.poll(() => platform.failNext.length).toBe(0);
    await say('two');
    await say('elsewhere', '2');
    await expect.poll(() => platform.texts()).toEqual(['elsewhere']);
    await clock.advance(29_000);
    expect(platform.texts('1')).toEqual([]);
    await clock.advance(2_000);
    await expect.poll(() => platform.texts('1')).toEqual(['one', 'two']);
  });

  it('tries again what surely did not arrive, later each time', async () => {
    for (let times = 0; times < 3; times += 1) fail('platform_unreachable');
    await say('one');
    for (const waitMs of [1_000, 2_000, 4_000]) {
      await expect.poll(async () => (await store.read.outbox.waiting())[0]?.attempts).toBeGreaterThan(0);
      expect(platform.texts()).toEqual([]);
      await clock.advance(waitMs);
    }
    await expect.poll(() => platform.texts()).toEqual(['one']);
  });

  it.each(['chat_gone', 'platform_refused'] as const)('gives up at once on %s', async (code) => {
    fail(code);
    const id = await say('one');
    await expect.poll(() => stateOf(id)).toBe('dead');
    await clock.advance(3_600_000);
    expect(platform.texts()).toEqual([]);
    expect(dead).toEqual([code]);
  });

  it('gives up after a day what could not be sent all the time', async () => {
    for (let times = 0; times < 10_000; times += 1) fail('platform_unreachable', 3_600_000);
    const id = await say('one');
    await expect.poll(async () => (await store.read.outbox.get(id))?.attempts).toBe(1);
    for (let hour = 1; hour <= 24; hour += 1) {
      await clock.advance(3_600_000);
      await expect.poll(async () => (await store.read.outbox.get(id))?.attempts).toBe(hour + 1);
    }
    expect(await stateOf(id)).toBe('new');
    await clock.advance(3_600_000);
    await expect.poll(() => stateOf(id)).toBe('dead');
  });

  it('marks what a stop finds on its way, and leaves to the next start what it cut short', async () => {
    const gate = Promise.withResolvers<void>();
    const deliver = platform.deliver;
    platform.deliver = async (...call) => {
      const sent = await deliver(...call);
      await gate.promise;
      return sent;
    };
    const arrived = await say('arrives');
    await expect.poll(() => platform.texts()).toEqual(['arrives']);
    platform.deliver = (_chat, _payload, { signal }) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
      );
    const cut = await say('cut short', '2');
    outbound.stop();
    gate.resolve();
    await expect.poll(() => stateOf(arrived)).toBe('sent');
    expect(await stateOf(cut)).toBe('new');
    expect(dead).toEqual([]);
  });

  it('takes a message for sent that it finds after an unknown outcome', async () => {
    fail('send_unknown');
    platform.findDelivered = async () => '77';
    const id = await say('one');
    await expect.poll(() => stateOf(id)).toBe('sent');
    expect((await store.read.outbox.get(id))?.messageId).toBe('77');
    expect(platform.texts()).toEqual([]);
  });

  describe('what an earlier process left', () => {
    /** Starts anew on the same store, as after a kill. */
    function startAnew(): Promise<void> {
      outbound.stop();
      outbound = createOutbound({
        store,
        clock,
        log: silentLog,
        platforms: new Map([['telegram', platform]]),
        onDead: (_row, { error }) => dead.push(error),
        onSent: () => undefined,
      });
      return outbound.start();
    }
    async function left(markdown: string, chatId = '1', place: Partial<ChatAddress> = {}): Promise<number> {
      const [payload] = platform.render({ kind: 'text', markdown });
      if (!payload) throw new Error('nothing to send');
      const target = { key: `s${chatId}`, chat: { ...chat(chatId), ...place } };
      const row = await store.transaction((tables) =>
        tables.outbox.add(newRow(target, { kind: 'send', payload }, 'final', clock.now())),
      );
      return row.id;
    }
    function watchLookUps(answer: (call: number) => string | null): (readonly OlderMessage[])[] {
      const calls: (readonly OlderMessage[])[] = [];
      platform.findDelivered = async (_chat, _payload, _key, _signal, older = []) => {
        calls.push(older);
        return answer(calls.length);
      };
      return calls;
    }

    it('is looked for before it is sent again, by what came before it', async () => {
      const first = await say('first');
      await expect.poll(() => stateOf(first)).toBe('sent');
      await clock.advance(1_000);
      const id = await left('second');
      const calls = watchLookUps(() => '77');
      await startAnew();
      await expect.poll(() => stateOf(id)).toBe('sent');
      expect((await store.read.outbox.get(id))?.messageId).toBe('77');
      expect(platform.texts()).toEqual(['first']);
      expect(calls).toEqual([[{ chat: chat('1'), messageId: platform.shown[0]?.id }]]);
    });

    it('is looked for only where it stood first in its chat: the rest was not on its way', async () => {
      await left('first');
      await left('second');
      await left('elsewhere', '2');
      const calls = watchLookUps(() => null);
      await startAnew();
      await expect.poll(() => platform.texts('1')).toEqual(['first', 'second']);
      await expect.poll(() => platform.texts('2')).toEqual(['elsewhere']);
      expect(calls).toHaveLength(2);
    });

    it('stays in doubt while the platform asks to wait, and is not sent', async () => {
      const id = await left('arrived before');
      watchLookUps((call) => {
        if (call > 1) return '77';
        throw new GatewayError('platform_rate_limited', 'slow down', { retryAfterMs: 5_000 });
      });
      await startAnew();
      await expect.poll(async () => (await store.read.outbox.get(id))?.attempts).toBe(1);
      await clock.advance(5_000);
      await expect.poll(() => stateOf(id)).toBe('sent');
      expect(platform.texts()).toEqual([]);
    });

    it.each([
      ['another topic of the chat has something on its way', () => left('topic', '1', { threadId: '7' })],
      [
        'an earlier message of the chat was given up',
        async () => {
          fail('platform_refused');
          const id = await say('refused');
          await expect.poll(() => stateOf(id)).toBe('dead');
          return id;
        },
      ],
      [
        'a line of progress may have arrived',
        async () => {
          outbound.show(chat('1'), 'progress', () =>
            Promise.reject(new GatewayError('send_unknown', 'socket closed')),
          );
          await expect.poll(async () => (await store.read.outbox.get(2))?.state).toBe('dead');
          return 2;
        },
      ],
    ])('is not guessed at when %s', async (_name, meanwhile) => {
      const first = await say('first', '2');
      await expect.poll(() => stateOf(first)).toBe('sent');
      await meanwhile();
      const id = await left('in doubt');
      const calls = watchLookUps(() => null);
      await startAnew();
      await expect.poll(() => stateOf(id)).toBe('sent');
      expect(calls.at(0)).toEqual([]);
    });

    it('is told from the line of progress before it', async () => {
      const [payload] = platform.render({ kind: 'progress', lines: ['at work'] });
      if (!payload) throw new Error('nothing to show');
      outbound.show(chat('1'), 'progress', async (adapter) => {
        const options = { key: 'p', signal: AbortSignal.timeout(1_000) };
        return { payload, ...(await adapter.deliver(chat('1'), payload, options)) };
      });
      await expect.poll(async () => (await store.read.outbox.get(1))?.state).toBe('sent');
      const id = await left('in doubt');
      const calls = watchLookUps(() => '77');
      await startAnew();
      await expect.poll(() => stateOf(id)).toBe('sent');
      expect(calls).toEqual([[{ chat: chat('1'), messageId: platform.shown[0]?.id }]]);
    });
  });

  it.each([
    ['twice when nobody can tell', null, 2],
    ['six times when each is looked for and is not there', async () => null, 6],
  ])('sends what has an unknown outcome %s, whatever else went wrong', async (_name, find, times) => {
    if (find !== null) platform.findDelivered = find;
    fail('platform_rate_limited', 1_000);
    for (let count = 0; count < 10; count += 1) fail('send_unknown', 1_000);
    const id = await say('one');
    for (let count = 1; count <= times; count += 1) {
      await expect.poll(async () => (await store.read.outbox.get(id))?.attempts).toBe(count);
      expect(await stateOf(id)).toBe('new');
      await clock.advance(1_000);
    }
    await expect.poll(() => stateOf(id)).toBe('dead');
    expect(platform.failNext).toHaveLength(10 - times);
  });

  it('looks once more before it sends again, for what arrives late', async () => {
    fail('send_unknown');
    let calls = 0;
    platform.findDelivered = async () => {
      calls += 1;
      return calls > 1 ? '77' : null;
    };
    const id = await say('late');
    await expect.poll(async () => (await store.read.outbox.get(id))?.attempts).toBe(1);
    await clock.advance(1_000);
    await expect.poll(() => stateOf(id)).toBe('sent');
    expect(platform.texts()).toEqual([]);
  });

  it('asks a platform with keys only when it may have forgotten the key', async () => {
    Object.assign(platform.capabilities, { idempotentSend: true });
    let calls = 0;
    platform.findDelivered = async () => {
      calls += 1;
      return '77';
    };
    fail('send_unknown');
    await say('soon');
    await expect.poll(async () => (await store.read.outbox.waiting())[0]?.attempts).toBe(1);
    await clock.advance(1_000);
    await expect.poll(() => platform.texts()).toEqual(['soon']);
    expect(calls).toBe(0);
    fail('send_unknown');
    fail('platform_unreachable', 300_000);
    const id = await say('much later');
    await expect.poll(async () => (await store.read.outbox.get(id))?.attempts).toBe(1);
    await clock.advance(1_000);
    await expect.poll(async () => (await store.read.outbox.get(id))?.attempts).toBe(2);
    await clock.advance(300_000);
    await expect.poll(() => stateOf(id)).toBe('sent');
    expect(platform.texts()).toEqual(['soon']);
    expect(calls).toBe(1);
  });

  it('does not let a progress message that hangs hold up the answer', async () => {
    const signals: AbortSignal[] = [];
    outbound.show(chat('1'), 'progress', (_platform, signal) => {
      signals.push(signal);
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
      );
    });
    await say('answer');
    await expect.poll(() => platform.texts(), { timeout: 8_000 }).toEqual(['answer']);
    expect(signals).toHaveLength(1);
  });

  it('edits the message that an earlier row became, and sends anew when that is gone', async () => {
    const id = await say('draft');
    await expect.poll(() => stateOf(id)).toBe('sent');
    const [payload] = platform.render({ kind: 'text', markdown: 'whole answer' });
    if (!payload) throw new Error('nothing to send');
    const edit = async () => {
      const op = { kind: 'edit', of: id, payload, orSend: true } as const;
      const row = await store.transaction((tables) =>
        tables.outbox.add(newRow({ key: 's', chat: chat('1') }, op, 'final', clock.now())),
      );
      outbound.push([row]);
    };
    await edit();
    await expect.poll(() => platform.texts()).toEqual(['whole answer']);
    platform.shown.length = 0;
    await edit();
    await expect.poll(() => platform.texts()).toEqual(['whole answer']);
  });
});
