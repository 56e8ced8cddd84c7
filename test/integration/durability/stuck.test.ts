import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import type { Store } from '../../../src/store/store.ts';
import { type Harness, type HarnessOptions, startHarness } from '../../support/gateway-harness.ts';
import { createScriptedModel } from '../../support/scripted-model.ts';
import { createLedgerTools, type LedgerTools, never } from './ledger-tools.ts';

const apology = /gave this up\. Send it again to retry\. \(error [0-9a-f]{6}\)/;

describe('a session is never stuck', () => {
  let harness: Harness;
  let tools: LedgerTools;
  beforeEach(() => {
    tools = createLedgerTools();
  });
  afterEach(() => harness.dispose());

  async function start(options: Omit<HarnessOptions, 'register'>): Promise<Harness> {
    harness = await startHarness({ ...options, register: tools.register });
    return harness;
  }
  const texts = () => expect.poll(() => harness.platform.texts(), { timeout: 15_000 });
  const counts = () => harness.store.read.sessions.counts();

  it('ends a turn without a sign of life with an apology and an error id, and answers the next message', async () => {
    await start({
      model: createScriptedModel([{ wait: never, say: 'never' }, 'here again']),
      config: { agent: { gateway_timeout: 0.2 } },
    });
    await harness.platform.says('think');
    await texts().toEqual([expect.stringMatching(apology)]);
    await harness.platform.says('and now?');
    await texts().toEqual([expect.stringMatching(apology), 'here again']);
  });

  it('leaves a turn alone that is slow and shows signs of life', async () => {
    const gate = Promise.withResolvers<void>();
    const model = createScriptedModel([]);
    let beats = 0;
    model.complete = async ({ onActivity }) => {
      const beating = setInterval(() => {
        beats += 1;
        onActivity?.();
        if (beats === 10) gate.resolve();
      }, 100);
      await gate.promise;
      clearInterval(beating);
      const usage = { inputTokens: 1, outputTokens: 1 };
      return { text: 'slow but alive', toolCalls: [], finishReason: 'stop', usage, model: 'scripted' };
    };
    await start({ model, config: { agent: { gateway_timeout: 0.5 } } });
    await harness.platform.says('think');
    await texts().toEqual(['slow but alive']);
    expect(beats).toBe(10);
  });

  it("answers another person within a second while all of one person's sixteen chats hang", async () => {
    const model = createScriptedModel((messages) =>
      String(messages.at(-1)?.content).includes('hang') ? { wait: never, say: 'never' } : 'hello Bob',
    );
    await start({ model });
    for (let chat = 1; chat <= 16; chat += 1)
      await harness.platform.says('hang', { user: 'ann', chatId: `ann-${chat}` });
    await expect.poll(async () => (await counts()).running).toBeGreaterThanOrEqual(8);
    await harness.platform.says('hi', { user: 'bob', chatId: 'bob-1' });
    await expect.poll(() => harness.platform.texts('bob-1'), { timeout: 1_000 }).toEqual(['hello Bob']);
  });

  it('goes on without a tool that heeds no signal, and refuses what it writes later', async () => {
    await start({
      model: createScriptedModel([{ call: 'hang', args: { command: 'forever' } }, 'here again', 'and again']),
      config: { agent: { gateway_timeout: 0.2 }, display: { tool_progress: 'off' } },
    });
    await harness.platform.says('go');
    await texts().toEqual([expect.stringMatching(apology)]);
    await harness.platform.says('and now?');
    await texts().toEqual([expect.stringMatching(apology), 'here again']);
    const session = await harness.store.read.sessions.list(1);
    const before = await harness.store.read.entries.list(session[0]?.sessionId ?? '');
    expect(tools.hanging[0]?.signal.aborted).toBe(true);
    tools.hanging[0]?.release();
    await harness.platform.says('still there?');
    await texts().toEqual([expect.stringMatching(apology), 'here again', 'and again']);
    const after = await harness.store.read.entries.list(session[0]?.sessionId ?? '');
    expect(after.slice(before.length).map((entry) => entry.kind)).toEqual(['user', 'assistant']);
  });

  it('tries a turn again whose answer and lease could not be written', async () => {
    const errors: unknown[] = [];
    let failures = 0;
    const model = createScriptedModel(() => {
      failures = model.requests.length === 1 ? 2 : 0;
      return 'hello';
    });
    const { store } = await start({ model, onError: (error) => errors.push(error) });
    const transaction = store.transaction.bind(store);
    store.transaction = (work) => {
      failures -= 1;
      return failures >= 0 ? Promise.reject(new GatewayError('store_full', 'full')) : transaction(work);
    };
    await harness.platform.says('hi');
    await texts().toEqual(['hello']);
    await expect.poll(counts).toEqual({ idle: 1, running: 0, parked: 0 });
    expect(errors).toMatchObject([{ code: 'store_full' }]);
  });

  it('gives a turn up, with an error id, whose every try fails by a fault of ours', async () => {
    const errors: unknown[] = [];
    const model = createScriptedModel(() => {
      throw new TypeError('a fault of ours');
    });
    await start({ model, onError: (error) => errors.push(error) });
    await harness.platform.says('hi');
    await texts().toEqual([expect.stringMatching(/set it aside.*\(error [0-9a-f]{6}\)/)]);
    expect(model.requests).toHaveLength(3);
    expect(errors).toHaveLength(3);
  });

  describe('when another process took the session', () => {
    let other: Store | null = null;
    afterEach(async () => {
      await other?.close();
      other = null;
    });

    it('writes nothing more, and lets the other one finish', async () => {
      const gate = Promise.withResolvers<void>();
      await start({ model: createScriptedModel([{ wait: gate.promise, say: 'stale answer' }]) });
      await harness.platform.says('think');
      await expect.poll(counts).toMatchObject({ running: 1 });
      other = openSqliteStore(`${harness.home}/state.db`);
      const [session] = await other.read.sessions.list(1);
      if (!session) throw new Error('no session');
      const afterItsLease = Date.now() + 3_600_000;
      const fence = await other.transaction((tables) =>
        tables.sessions.acquire(session.key, 'other', afterItsLease, afterItsLease + 60_000),
      );
      expect(fence).toBe(2);
      const entries = await other.read.entries.list(session.sessionId);
      gate.resolve();
      await expect.poll(() => harness.gateway.figures().runningTurns).toBe(0);
      expect(await other.read.entries.list(session.sessionId)).toEqual(entries);
      expect(await other.read.outbox.depth()).toBe(0);
      expect(harness.platform.texts()).toEqual([]);
      expect(await other.read.sessions.holds(session.key, 2)).toBe(true);
    });
  });
});
