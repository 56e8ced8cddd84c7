import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noBlame } from '../../../src/gateway/turn/blame.ts';
import type { Blame } from '../../../src/store/sessions.ts';
import type { Store } from '../../../src/store/store.ts';
import { type Harness, type HarnessOptions, startHarness } from '../../support/gateway-harness.ts';
import { createScriptedModel } from '../../support/scripted-model.ts';
import { createLedgerTools, type LedgerTools, never } from './ledger-tools.ts';

const setAside = /interrupted several times while working on this and set it aside.*\(error [0-9a-f]{6}\)/;
const key = 'agent:main:telegram:dm:1';

/** A store as a process leaves it that died while it worked on a session; not for the first time. */
async function dieAgain(store: Store, before: Partial<Blame> = {}): Promise<void> {
  await store.transaction(async (tables) => {
    await tables.sessions.acquire(key, 'dead', Date.now(), Date.now() + 60_000);
    await tables.sessions.update(key, { blame: { ...noBlame, ...before } });
  });
}

describe('recovery at the start', () => {
  let harness: Harness;
  let tools: LedgerTools;
  beforeEach(() => {
    tools = createLedgerTools();
  });
  afterEach(() => harness.dispose());

  async function start(options: Omit<HarnessOptions, 'register'>): Promise<Harness> {
    const config = options.config ?? { display: { tool_progress: 'off' } };
    harness = await startHarness({ ...options, config, register: tools.register });
    return harness;
  }
  const shown = () => expect.poll(() => harness.platform.texts(), { timeout: 5_000 });
  const session = async () => {
    const row = await harness.store.read.sessions.get(key);
    if (!row) throw new Error('no session');
    return row;
  };
  /** A turn that is in the middle of its work. */
  async function startAndThink(): Promise<void> {
    await start({ model: createScriptedModel([{ wait: never, say: 'never' }]) });
    await harness.platform.says('think');
    await expect.poll(async () => (await harness.store.read.sessions.counts()).running).toBe(1);
  }

  /** A turn whose tool runs. */
  async function startAndWork(): Promise<void> {
    await start({ model: createScriptedModel([{ call: 'hang', args: { command: 'work' } }]) });
    await harness.platform.says('work');
    await expect.poll(() => tools.hanging.length).toBe(1);
  }

  it('resumes a turn at whose tool the process died twice', async () => {
    await startAndWork();
    await harness.restart(createScriptedModel(['resumed']), (store) => dieAgain(store, { atWork: 1 }));
    await shown().toEqual(['resumed']);
    expect((await session()).blame).toEqual(noBlame);
  });

  it('sets a message aside at whose tool the process died three times, and answers the next', async () => {
    await startAndWork();
    const model = createScriptedModel(['next']);
    await harness.restart(model, (store) => dieAgain(store, { atWork: 2 }));
    await shown().toEqual([expect.stringMatching(setAside)]);
    expect(model.requests).toEqual([]);
    await harness.platform.says('hi');
    await shown().toEqual([expect.stringMatching(setAside), 'next']);
  });

  it('resumes a turn three times that only waited for the model', async () => {
    await startAndThink();
    await harness.restart(createScriptedModel(['resumed']), (store) => dieAgain(store, { waiting: 2 }));
    await shown().toEqual(['resumed']);
    expect((await session()).blame).toEqual(noBlame);
  });

  it('gives a turn up that was resumed three times and came no further', async () => {
    await startAndThink();
    const model = createScriptedModel(['next']);
    await harness.restart(model, (store) => dieAgain(store, { waiting: 3 }));
    await shown().toEqual([expect.stringMatching(setAside)]);
    expect(model.requests).toEqual([]);
    await harness.platform.says('hi');
    await shown().toEqual([expect.stringMatching(setAside), 'next']);
  });

  it('counts resumes anew once something of the turn is stored', async () => {
    await startAndThink();
    const going = createScriptedModel([
      { call: 'run', args: { command: 'one' } },
      { wait: never, say: 'never' },
    ]);
    await harness.restart(going, (store) => dieAgain(store, { waiting: 2 }));
    await expect.poll(() => going.requests.length).toBe(2);
    expect((await session()).blame).toEqual(noBlame);
    await harness.restart(createScriptedModel(['resumed']), (store) => dieAgain(store));
    await shown().toEqual(['resumed']);
    expect(tools.ledger).toEqual(['one']);
  });

  it('goes on counting deaths at its tools, whatever is stored in between', async () => {
    await startAndWork();
    const again = createScriptedModel([{ call: 'hang', args: { command: 'work' } }]);
    await harness.restart(again, (store) => dieAgain(store));
    await expect.poll(() => tools.hanging.length).toBe(2);
    expect((await session()).blame).toEqual({ atWork: 1, waiting: 0 });
  });

  it('blames no session that was not worked on', async () => {
    await startAndThink();
    await harness.restart(createScriptedModel([{ wait: never, say: 'never' }]), (store) =>
      store.transaction((tables) => tables.sessions.releaseAll()),
    );
    await expect.poll(async () => (await harness.store.read.sessions.leased()).length).toBe(1);
    expect((await session()).blame).toEqual(noBlame);
  });

  it('sets a message aside whose taking in killed the process three times', async () => {
    const { platform } = await start({ model: createScriptedModel([]) });
    let downloads = 0;
    platform.download = () => {
      downloads += 1;
      return never;
    };
    const attachments = [{ kind: 'document', ref: 'bomb', name: 'bomb.zip' } as const];
    await platform.says('open this', { attachments });
    await expect.poll(() => downloads).toBe(1);
    await harness.restart(createScriptedModel(['next']), (store) => dieAgain(store, { atWork: 2 }));
    await shown().toEqual([expect.stringMatching(setAside)]);
    expect(downloads).toBe(1);
    await platform.says('hi');
    await shown().toEqual([expect.stringMatching(setAside), 'next']);
  });

  it('counts no clean stop as a death', async () => {
    await startAndThink();
    await harness.gateway.stop(0);
    expect(await harness.store.read.sessions.leased()).toEqual([]);
    await harness.restart(createScriptedModel([{ wait: never, say: 'never' }]));
    await expect.poll(async () => (await harness.store.read.sessions.leased()).length).toBe(1);
    expect((await session()).blame).toEqual(noBlame);
  });

  it('works on what may have killed it alone, while the others go on', async () => {
    const gate = Promise.withResolvers<void>();
    await start({ model: createScriptedModel(() => ({ wait: never, say: 'never' })) });
    for (const chatId of ['1', '2', '3']) await harness.platform.says(`work ${chatId}`, { chatId });
    await expect.poll(async () => (await harness.store.read.sessions.counts()).running).toBe(3);
    const seen: string[] = [];
    const model = createScriptedModel((messages) => {
      const said = String(messages.at(-1)?.content);
      seen.push(said);
      return said === 'work 3' ? 'innocent' : { wait: gate.promise, say: said };
    });
    await harness.restart(model, (store) =>
      store.transaction(async (tables) => {
        await tables.sessions.releaseAll();
        for (const chatId of ['1', '2'])
          await tables.sessions.update(`agent:main:telegram:dm:${chatId}`, {
            blame: { atWork: 2, waiting: 0 },
          });
      }),
    );
    await shown().toEqual(['innocent']);
    const leased = (await harness.store.read.sessions.leased()).map((row) => row.key);
    expect(leased).toHaveLength(1);
    expect(seen.filter((said) => said !== 'work 3')).toHaveLength(1);
    gate.resolve();
    await expect.poll(() => harness.platform.texts().sort()).toEqual(['innocent', 'work 1', 'work 2']);
  });

  it('applies the reset policy before it resumes: an old turn is ended, its chat told, its calls never run', async () => {
    await start({
      model: createScriptedModel([{ call: 'hang', args: { command: 'one' } }]),
      config: { session_reset: { mode: 'idle', idle_minutes: 60 }, display: { tool_progress: 'off' } },
    });
    await harness.platform.says('work');
    await expect.poll(() => tools.hanging.length).toBe(1);
    const before = (await session()).sessionId;
    const model = createScriptedModel(['fresh']);
    await harness.restart(model, (store) =>
      store.transaction((tables) => tables.sessions.update(key, { updatedAt: Date.now() - 2 * 3_600_000 })),
    );
    await shown().toEqual([expect.stringMatching(setAside)]);
    expect(model.requests).toEqual([]);
    await harness.platform.says('hi');
    await shown().toEqual([expect.stringMatching(setAside), 'fresh']);
    expect((await session()).sessionId).not.toBe(before);
    expect(tools.ledger).toEqual(['one']);
  });

  it('tells a chat of its new conversation once, before the answer, though the store fails meanwhile', async () => {
    let failures = 0;
    const { store } = await start({
      model: createScriptedModel(['one', 'two']),
      config: { session_reset: { mode: 'idle', idle_minutes: 60 } },
      onError: () => undefined,
    });
    await harness.platform.says('hi');
    await shown().toEqual(['one']);
    await store.transaction((tables) =>
      tables.sessions.update(key, { updatedAt: Date.now() - 2 * 3_600_000 }),
    );
    const transaction = store.transaction.bind(store);
    store.transaction = (work) =>
      transaction(async (tables) => {
        const result = await work(tables);
        const [latest] = await tables.outbox.waiting();
        // The reset itself is rolled back once.
        if (latest?.purpose === 'notice' && failures++ === 0) throw new Error('no luck');
        return result;
      });
    await harness.platform.says('hello again');
    await shown().toEqual(['one', expect.stringContaining('new conversation'), 'two']);
    expect(failures).toBeGreaterThan(0);
  });

  it('settles at the start what expired while no gateway ran: the card says so, nothing runs', async () => {
    await start({ model: createScriptedModel([{ call: 'run', args: { command: 'rm -r build' } }]) });
    await harness.platform.says('delete build');
    await expect.poll(() => harness.platform.card()?.buttons.length).toBe(2);
    const old = harness.platform.card()?.buttons[0]?.[0]?.id ?? '';
    const model = createScriptedModel(['left it']);
    await harness.restart(model, (store) => expireAll(store, harness.home));
    await shown().toEqual(['left it']);
    await expect.poll(() => harness.platform.card()?.title).toMatch(/^⌛ Expired/);
    expect(harness.platform.card()?.buttons).toEqual([]);
    expect(await harness.platform.pressesId(old)).toEqual({
      text: 'This has expired; nothing ran.',
      alert: true,
    });
    expect(tools.ledger).toEqual([]);
  });

  it('still expires after a restart what nobody answers', async () => {
    await start({
      model: createScriptedModel([{ call: 'run', args: { command: 'rm -r build' } }]),
      config: { approvals: { timeout: 1 } },
    });
    await harness.platform.says('delete build');
    await expect.poll(() => harness.platform.card()?.buttons.length).toBe(2);
    await harness.restart(createScriptedModel(['left it']));
    expect(harness.platform.card()?.buttons.length).toBe(2);
    await shown().toEqual(['left it']);
    expect(tools.ledger).toEqual([]);
  });

  it('restarts for an admin: drains, and tells that chat once that it is back', async () => {
    let asked = 0;
    const requestRestart = () => {
      asked += 1;
    };
    await start({
      model: createScriptedModel([]),
      config: { telegram: { token: 'x', allow_all_users: true, admin_users: ['ann'] } },
      parts: { requestRestart },
    });
    await harness.platform.says('/restart', { user: 'bob', chatId: '2' });
    await shown().toEqual(['Only an admin can do this.']);
    expect(asked).toBe(0);
    await harness.platform.says('/restart');
    await shown().toEqual(['Only an admin can do this.', expect.stringContaining('Restarting')]);
    await expect.poll(() => asked).toBe(1);
    await harness.restart(createScriptedModel([]));
    await expect.poll(() => harness.platform.texts('1')).toEqual([expect.anything(), '✅ Back online.']);
    await harness.restart(createScriptedModel(['next']));
    await harness.platform.says('hi');
    await expect.poll(() => harness.platform.texts('1').at(-1)).toBe('next');
    expect(harness.platform.texts('1').filter((text) => text.includes('Back online'))).toHaveLength(1);
    expect(asked).toBe(1);
  });

  it('tells a session once of a background process that ended, however often it is told', async () => {
    const model = createScriptedModel(['hello', 'the build is done', 'next']);
    await start({ model });
    await harness.platform.says('hi');
    await shown().toEqual(['hello']);
    const { sessionId } = await session();
    for (let times = 0; times < 2; times += 1)
      await harness.gateway.notify(sessionId, 'process proc_1 exited with 0', 'proc_1');
    await shown().toEqual(['hello', 'the build is done']);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('proc_1 exited with 0');
    await harness.platform.says('and?');
    await shown().toEqual(['hello', 'the build is done', 'next']);
  });
});

/** As if the gateway had been off until long after the requests had run out. */
async function expireAll(store: Store, home: string): Promise<void> {
  const past = Date.now() - 60_000;
  for (const row of await store.read.approvals.allPending())
    await store.transaction((tables) =>
      tables.timers.set({ id: `approval:${row.id}`, kind: 'approval_expiry', ref: row.id, dueAt: past }),
    );
  const db = new DatabaseSync(join(home, 'state.db'));
  db.exec(`UPDATE approvals SET expires_at = ${past}`);
  db.close();
}
