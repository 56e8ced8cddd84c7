import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTimers, type Timers } from '../../../../src/gateway/timers.ts';
import { silentLog } from '../../../../src/log.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts';
import type { Store } from '../../../../src/store/store.ts';
import { createTestClock, type TestClock } from '../../../support/test-clock.ts';

describe('stored timers', () => {
  let folder: string;
  let store: Store;
  let clock: TestClock;
  let timers: Timers;
  let fired: string[];
  const failing = new Set<string>();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hermes-timers-'));
    store = openSqliteStore(join(folder, 'state.db'));
    clock = createTestClock();
    fired = [];
    failing.clear();
    timers = createTimers({
      store,
      clock,
      log: silentLog,
      async fire({ ref }) {
        if (failing.has(ref)) throw new Error(`${ref} fails`);
        fired.push(ref);
      },
    });
  });
  afterEach(async () => {
    timers.stop();
    await store.close();
    await rm(folder, { recursive: true });
  });

  const set = (ref: string, inMs: number) => {
    const dueAt = clock.now() + inMs;
    return store.transaction(async (tables) => {
      await tables.timers.set({ id: ref, kind: 'approval_expiry', ref, dueAt });
      tables.onCommit(() => timers.expect(dueAt));
    });
  };
  const left = () => store.read.timers.due(Number.MAX_SAFE_INTEGER);

  it('fire when they are due, and once', async () => {
    await timers.start();
    await set('a', 1_000);
    await clock.advance(999);
    expect(fired).toEqual([]);
    await clock.advance(1);
    await expect.poll(() => fired).toEqual(['a']);
    await expect.poll(left).toEqual([]);
    await clock.advance(60_000);
    expect(fired).toEqual(['a']);
  });

  it('fire at the start when they were due while no gateway ran, and at their time after', async () => {
    await set('past', -60_000);
    await set('later', 60_000);
    await timers.start();
    expect(fired).toEqual(['past']);
    await clock.advance(60_000);
    await expect.poll(() => fired).toEqual(['past', 'later']);
  });

  it('make room for an earlier one that is set later', async () => {
    await timers.start();
    await set('late', 60_000);
    await set('early', 1_000);
    await clock.advance(1_000);
    await expect.poll(() => fired).toEqual(['early']);
  });

  it('do not wait for one that fails, which is tried again', async () => {
    failing.add('bad');
    await set('bad', -2);
    await set('good', -1);
    await timers.start();
    expect(fired).toEqual(['good']);
    failing.clear();
    await clock.advance(5_000);
    await expect.poll(() => fired).toEqual(['good', 'bad']);
  });
});
