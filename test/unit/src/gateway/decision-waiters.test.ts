import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDecisionWaiters } from '../../../../src/gateway/decision-waiters.ts';
import type { ApprovalRow } from '../../../../src/store/approvals.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts';
import type { Store } from '../../../../src/store/store.ts';

const row: ApprovalRow = {
  id: 'a',
  sessionKey: 's',
  sessionId: 's-1',
  callId: 'c',
  chat: { platform: 'telegram', kind: 'dm', chatId: '1' },
  locale: 'en',
  askerId: '1',
  askerName: 'Ann',
  ask: { kind: 'question', question: 'Which?', choices: [] },
  state: 'pending',
  createdAt: 1,
  expiresAt: 2,
  decision: null,
  cardId: null,
};

describe('code that waits for a decision', () => {
  let folder = '';
  let store: Store;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hermes-waiters-'));
    store = openSqliteStore(join(folder, 'state.db'));
    await store.transaction((tables) => tables.approvals.add(row));
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  it('is woken although another that waited for the same one gave up', async () => {
    const waiters = createDecisionWaiters(store);
    const impatient = new AbortController();
    const first = waiters.wait('a', impatient.signal);
    const second = waiters.wait('a', new AbortController().signal);
    impatient.abort(new Error('gave up'));
    await expect(first).rejects.toThrow('gave up');
    waiters.settle({ ...row, state: 'expired' });
    expect((await second).state).toBe('expired');
  });

  it('learns of a decision that was made before it waited', async () => {
    await store.transaction((tables) => tables.approvals.settle('a', 'expired', null));
    const waited = await createDecisionWaiters(store).wait('a', new AbortController().signal);
    expect(waited.state).toBe('expired');
  });
});
