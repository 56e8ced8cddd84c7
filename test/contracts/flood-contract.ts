import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ChatAddress } from '../../platforms/platform.ts';
import { createOutbound, type Outbound } from '../../src/gateway/outbound/outbound.ts';
import { newRow } from '../../src/gateway/turn/answer.ts';
import { createPresenter, type Presenter } from '../../src/gateway/turn/presenter.ts';
import { silentLog } from '../../src/log.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { createTestClock, type TestClock } from '../support/test-clock.ts';
import type { PlatformRig } from './platform-contract.ts';
import { createRecordingSink } from './recording-sink.ts';

/**
 * Field report: a flood wait slept through in line, made longer by status messages. What is right: one gate a chat;
 * progress and signs of work are dropped; the answer is kept and goes out after the wait, in order.
 */
export function floodContract(name: string, start: () => Promise<PlatformRig>): void {
  describe(`a flood wait on ${name}`, () => {
    let rig: PlatformRig;
    let folder: string;
    let store: Store;
    let clock: TestClock;
    let outbound: Outbound;
    let presenter: Presenter;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'flood-contract-'));
      rig = await start();
      await rig.platform.connect(createRecordingSink(), [], AbortSignal.timeout(10_000));
      store = openSqliteStore(join(folder, 'state.db'));
      clock = createTestClock();
      outbound = createOutbound({
        store,
        clock,
        log: silentLog,
        platforms: new Map([[rig.platform.name, rig.platform]]),
        onDead: () => undefined,
        onSent: () => undefined,
      });
      const never = () => Promise.reject(new Error('nothing streams here'));
      presenter = createPresenter({
        platform: rig.platform,
        chat: rig.chat,
        outbound,
        clock,
        log: silentLog,
        streaming: { enabled: false, intervalMs: 1, minChars: 1, cursor: '' },
        toolProgress: 'all',
        describeCall: (call) => `💻 ${call.name}`,
        openStream: never,
        messageIdOf: never,
      });
    });
    afterEach(async () => {
      presenter.dispose();
      outbound.stop();
      await rig.platform.disconnect();
      await rig.close();
      await store.close();
      await rm(folder, { recursive: true, force: true });
      expect(rig.violations()).toEqual([]);
    });

    const uses = (tool: string) => presenter.toolStarted({ id: tool, name: tool, arguments: '{}' }, {});
    async function answers(markdown: string, chat: ChatAddress = rig.chat): Promise<void> {
      const target = { key: `session of ${chat.threadId}`, chat };
      for (const payload of rig.platform.render({ kind: 'text', markdown })) {
        const row = await store.transaction((tables) =>
          tables.outbox.add(newRow(target, { kind: 'send', payload }, 'final', clock.now())),
        );
        outbound.push([row]);
      }
    }
    const texts = (chat = rig.chat) => rig.shown(chat).map(({ text }) => text);
    /** The platform's client may count the real second besides. */
    async function afterWait(holds: () => boolean): Promise<void> {
      await expect
        .poll(
          async () => {
            if (!holds()) await clock.advance(100);
            return holds();
          },
          { timeout: 5_000 },
        )
        .toBe(true);
    }

    test('on an edit drops what shows progress, and keeps the answer until it is over', async () => {
      uses('first');
      await expect.poll(() => texts().length).toBe(1);
      rig.faults.rateLimitEdit(1);
      const before = rig.requests();
      uses('second');
      await expect.poll(() => outbound.mustWait(rig.chat)).toBe(true);
      expect(rig.requests()).toBe(before + 1);
      uses('third');
      await answers('the answer');
      await clock.advance(900);
      expect(texts()).toHaveLength(1);
      await afterWait(() => texts().length === 2);
      expect(texts()[1]).toContain('the answer');
      // Neither typing nor a line of progress was tried meanwhile.
      expect(rig.requests()).toBe(before + 2);
    });

    test('on a send keeps the order of its chat and holds up no other', async () => {
      rig.faults.rateLimit(1);
      await answers('one');
      await expect.poll(() => outbound.mustWait(rig.chat)).toBe(true);
      await answers('two');
      if (rig.thread !== null) {
        await answers('elsewhere', rig.thread);
        const { thread } = rig;
        await expect.poll(() => texts(thread).join()).toContain('elsewhere');
      }
      expect(texts().join()).not.toMatch(/one|two/);
      await afterWait(() => texts().length === 2);
      expect(texts()).toEqual([expect.stringContaining('one'), expect.stringContaining('two')]);
    });
  });
}
