import { afterEach, describe, expect, it } from 'vitest';
import type { InboundEvent } from '../../platforms/platform.ts';
import type { NewInboxRow } from '../../src/store/inbox.ts';
import type { SessionRow } from '../../src/store/sessions.ts';
import type { Store } from '../../src/store/store.ts';

const chat = { platform: 'telegram', kind: 'dm', chatId: '1' } as const;

function event(eventId: string, text = 'hello'): InboundEvent {
  return {
    eventId,
    kind: 'message',
    chat,
    sender: { id: '1', name: 'Ann', isBot: false },
    messageId: `m${eventId}`,
    text,
    addressed: true,
    attachments: [],
    sentAt: 0,
  };
}

function inboxRow(eventId: string, change: Partial<NewInboxRow> = {}): NewInboxRow {
  return {
    platform: 'telegram',
    eventId,
    sessionKey: 's',
    event: event(eventId),
    state: 'new',
    role: 'turn',
    groupKey: eventId,
    readyAt: 0,
    receivedAt: 1,
    ...change,
  };
}

function session(key: string): SessionRow {
  return {
    key,
    sessionId: `${key}-1`,
    chat,
    userId: '1',
    userName: 'Ann',
    locale: 'en',
    turn: 'idle',
    blame: { atWork: 0, waiting: 0 },
    settings: {},
    createdAt: 1,
    updatedAt: 1,
  };
}

/** What every store promises. `open` gives an empty one; `reopen` opens the same state again, as after a restart. */
export function storeContract(
  name: string,
  open: () => Promise<{ store: Store; reopen: () => Promise<Store>; dispose: () => Promise<void> }>,
): void {
  describe(`store: ${name}`, () => {
    const opened: Awaited<ReturnType<typeof open>>[] = [];
    const fresh = async () => {
      const one = await open();
      opened.push(one);
      return one;
    };
    afterEach(async () => {
      for (const one of opened.splice(0)) await one.dispose();
    });

    it('drops an event that was stored before', async () => {
      const { store } = await fresh();
      const first = await store.transaction((tables) => tables.inbox.add(inboxRow('1')));
      const again = await store.transaction((tables) => tables.inbox.add(inboxRow('1')));
      expect(first).toBeTypeOf('number');
      expect(again).toBeNull();
      expect(await store.read.inbox.countWaiting('s')).toBe(1);
    });

    it('leaves no trace of a transaction that failed, and commits its neighbours', async () => {
      const { store } = await fresh();
      const good = store.transaction((tables) => tables.inbox.add(inboxRow('1')));
      const bad = store.transaction(async (tables) => {
        await tables.inbox.add(inboxRow('2'));
        throw new Error('second thoughts');
      });
      const alsoGood = store.transaction((tables) => tables.inbox.add(inboxRow('3')));
      await expect(bad).rejects.toThrow('second thoughts');
      await Promise.all([good, alsoGood]);
      expect((await store.read.inbox.waiting('s')).map((row) => row.eventId)).toEqual(['1', '3']);
    });

    it('runs transactions in the order in which they were asked for', async () => {
      const { store } = await fresh();
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          store.transaction((tables) => tables.inbox.add(inboxRow(String(index)))),
        ),
      );
      const order = (await store.read.inbox.waiting('s')).map((row) => Number(row.eventId));
      expect(order).toEqual(Array.from({ length: 50 }, (_, index) => index));
    });

    it('does not show to readers what is not committed', async () => {
      const { store } = await fresh();
      let seenInside = -1;
      await store.transaction(async (tables) => {
        await tables.inbox.add(inboxRow('1'));
        seenInside = await store.read.inbox.countWaiting('s');
      });
      expect(seenInside).toBe(0);
      expect(await store.read.inbox.countWaiting('s')).toBe(1);
    });

    it('keeps what a resolved transaction wrote across a restart', async () => {
      const { store, reopen } = await fresh();
      await store.transaction(async (tables) => {
        await tables.sessions.create(session('s'));
        await tables.entries.append('s-1', { kind: 'user', text: 'hi' }, 5);
      });
      await store.close();
      const again = await reopen();
      expect(await again.read.sessions.get('s')).toEqual(session('s'));
      expect(await again.read.entries.list('s-1')).toMatchObject([{ kind: 'user', text: 'hi', at: 5 }]);
      await again.close();
    });

    it('gives a session to one owner at a time, with a rising fencing token', async () => {
      const { store } = await fresh();
      await store.transaction((tables) => tables.sessions.create(session('s')));
      const acquire = (owner: string, now: number) =>
        store.transaction((tables) => tables.sessions.acquire('s', owner, now, now + 100));
      expect(await acquire('one', 1_000)).toBe(1);
      expect(await acquire('two', 1_050)).toBeNull();
      expect(await acquire('two', 2_000)).toBe(2);
      expect(await store.read.sessions.holds('s', 1)).toBe(false);
      expect(await store.read.sessions.holds('s', 2)).toBe(true);
    });

    it('gives a session again to the owner that could not release it, under a new token', async () => {
      const { store } = await fresh();
      await store.transaction((tables) => tables.sessions.create(session('s')));
      const acquire = (now: number) =>
        store.transaction((tables) => tables.sessions.acquire('s', 'one', now, now + 100));
      expect(await acquire(1_000)).toBe(1);
      expect(await acquire(1_001)).toBe(2);
      expect(await store.read.sessions.holds('s', 1)).toBe(false);
    });

    it('names the sessions that a process worked on when it died', async () => {
      const { store, reopen } = await fresh();
      await store.transaction(async (tables) => {
        await tables.sessions.create(session('idle'));
        await tables.sessions.create(session('busy'));
        await tables.sessions.acquire('busy', 'one', 1_000, 2_000);
      });
      await store.close();
      const again = await reopen();
      expect((await again.read.sessions.leased()).map(({ key }) => key)).toEqual(['busy']);
      await again.transaction((tables) => tables.sessions.releaseAll());
      expect(await again.read.sessions.leased()).toEqual([]);
      await again.close();
    });

    it('lets the first decision win', async () => {
      const { store } = await fresh();
      await store.transaction((tables) =>
        tables.approvals.add({
          id: 'a',
          sessionKey: 's',
          sessionId: 's-1',
          callId: 'c',
          chat,
          locale: 'en',
          askerId: '1',
          askerName: 'Ann',
          ask: { kind: 'question', question: 'Which?', choices: ['x'] },
          state: 'pending',
          createdAt: 1,
          expiresAt: 100,
          decision: null,
          cardId: null,
        }),
      );
      const decide = (byName: string) =>
        store.transaction((tables) =>
          tables.approvals.settle('a', 'decided', { choice: 'answer', byId: '1', byName, at: 2, text: 'x' }),
        );
      expect(await decide('Ann')).toBe(true);
      expect(await decide('Bob')).toBe(false);
      expect((await store.read.approvals.get('a'))?.decision?.byName).toBe('Ann');
    });

    it('finds what was said, by the beginnings of words, and never reads the query as syntax', async () => {
      const { store } = await fresh();
      await store.transaction(async (tables) => {
        await tables.sessions.create(session('s'));
        await tables.entries.append('s-1', { kind: 'user', text: 'Please deploy the billing service' }, 5);
        await tables.entries.append('s-1', { kind: 'user', text: 'Something else' }, 6);
      });
      const hits = await store.read.entries.search('bill', { limit: 5 });
      expect(hits).toMatchObject([
        { sessionId: 's-1', kind: 'user', title: 'Please deploy the billing service' },
      ]);
      expect(await store.read.entries.search('" OR * NEAR(', { limit: 5 })).toEqual([]);
      expect(await store.read.entries.search('billing', { limit: 5, userId: 'someone else' })).toEqual([]);
    });

    it('names the tool calls that were started and never finished', async () => {
      const { store } = await fresh();
      await store.transaction((tables) => tables.toolRuns.start('s-1', ['a', 'b'], 1));
      await store.transaction((tables) => tables.toolRuns.finish('s-1', ['a'], 2));
      expect(await store.read.toolRuns.unfinished('s-1', ['a', 'b', 'c'])).toEqual(new Set(['b']));
    });

    it('shows a changed audit row', async () => {
      const { store } = await fresh();
      for (const event of ['request', 'decision']) {
        await store.transaction((tables) =>
          tables.audit.append({ at: 1, event, sessionKey: 's', actor: '1', detail: '{}' }),
        );
      }
      expect(await store.read.audit.verify()).toEqual({ rows: 2, brokenAt: null });
    });

    it('replaces the text of a message that still waits', async () => {
      const { store } = await fresh();
      await store.transaction((tables) => tables.inbox.add(inboxRow('1')));
      expect(await store.transaction((tables) => tables.inbox.editWaiting('s', 'm1', 'better'))).toBe(true);
      expect((await store.read.inbox.waiting('s'))[0]?.event.text).toBe('better');
      expect(await store.transaction((tables) => tables.inbox.editWaiting('s', 'gone', 'x'))).toBe(false);
    });

    it('lists the outbox in order and forgets what was sent', async () => {
      const { store } = await fresh();
      const add = (key: string) =>
        store.transaction((tables) =>
          tables.outbox.add({
            platform: 'telegram',
            chat,
            chatKey: 'telegram:1',
            sessionKey: 's',
            op: { kind: 'send', payload: { text: key } },
            purpose: 'final',
            key,
            createdAt: 1,
          }),
        );
      const first = await add('a');
      await add('b');
      await store.transaction((tables) => tables.outbox.markSent(first.id, '77', 2));
      expect((await store.read.outbox.waiting()).map((row) => row.key)).toEqual(['b']);
      expect((await store.read.outbox.get(first.id))?.messageId).toBe('77');
    });
  });
}
