import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatAddress } from '../../../../platforms/platform.ts';
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
