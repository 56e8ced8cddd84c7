import { afterEach, describe, expect, it } from 'vitest';
import type { TurnQueue } from '../../src/queue/turn-queue.ts';

/** What every turn queue promises. `create` gives a fresh queue that works on at most `concurrency` sessions. */
export function queueContract(name: string, create: (concurrency: number) => Promise<TurnQueue>): void {
  describe(`turn queue: ${name}`, () => {
    const open: TurnQueue[] = [];
    const queueOf = async (concurrency: number) => {
      const queue = await create(concurrency);
      open.push(queue);
      return queue;
    };
    afterEach(async () => {
      for (const queue of open.splice(0)) await queue.stop(1_000);
    });

    it('runs one handler at a time for a session and several sessions at once', async () => {
      const queue = await queueOf(8);
      const active = new Map<string, number>();
      let mostForOne = 0;
      let mostInAll = 0;
      let handled = 0;
      queue.start(async (key) => {
        active.set(key, (active.get(key) ?? 0) + 1);
        mostForOne = Math.max(mostForOne, active.get(key) ?? 0);
        mostInAll = Math.max(mostInAll, queue.active);
        await new Promise((resolve) => setTimeout(resolve, 5));
        active.set(key, (active.get(key) ?? 0) - 1);
        handled += 1;
      });
      for (let round = 0; round < 5; round += 1) {
        for (const key of ['a', 'b', 'c']) await queue.enqueue(key);
      }
      await expect.poll(() => queue.active + queue.depth).toBe(0);
      expect(mostForOne).toBe(1);
      expect(mostInAll).toBe(3);
      expect(handled).toBeGreaterThanOrEqual(3);
    });

    it('handles a session once more when it is enqueued while its handler runs', async () => {
      const queue = await queueOf(1);
      let runs = 0;
      const gate = Promise.withResolvers<void>();
      queue.start(async () => {
        runs += 1;
        if (runs === 1) await gate.promise;
      });
      await queue.enqueue('a');
      await expect.poll(() => runs).toBe(1);
      await queue.enqueue('a');
      gate.resolve();
      await expect.poll(() => runs).toBe(2);
    });

    it('never works on more sessions than its limit', async () => {
      const queue = await queueOf(2);
      let most = 0;
      let handled = 0;
      queue.start(async () => {
        most = Math.max(most, queue.active);
        await new Promise((resolve) => setTimeout(resolve, 5));
        handled += 1;
      });
      for (let index = 0; index < 20; index += 1) await queue.enqueue(`s${index}`);
      await expect.poll(() => handled).toBe(20);
      expect(most).toBe(2);
    });

    describe('with sessions that hang', () => {
      const never = new Promise<void>(() => undefined);
      /** Enqueues `sessions` of each person, all of which hang, and tells how many of each were begun. */
      async function begin(queue: TurnQueue, asked: Record<string, number>): Promise<Record<string, number>> {
        const begun: Record<string, number> = {};
        queue.start(async (key) => {
          const [person = ''] = key.split('/');
          begun[person] = (begun[person] ?? 0) + 1;
          await never;
        });
        for (const [person, sessions] of Object.entries(asked))
          for (let count = 0; count < sessions; count += 1) await queue.enqueue(`${person}/${count}`, person);
        return begun;
      }
      const seen = (begun: Record<string, number>) => expect.poll(() => begun);

      it('lets no one person have more than half of its room', async () => {
        const begun = await begin(await queueOf(16), { ann: 100, bob: 1 });
        await seen(begun).toEqual({ ann: 8, bob: 1 });
      });

      it('keeps room for the first session of each who comes, though others wait for more', async () => {
        const begun = await begin(await queueOf(16), { ann: 100, bob: 100, cy: 2, dan: 1 });
        await seen(begun).toEqual({ ann: 8, bob: 4, cy: 1, dan: 1 });
      });

      it('works on all the same where there is room for one only', async () => {
        const begun = await begin(await queueOf(1), { ann: 2 });
        await seen(begun).toEqual({ ann: 1 });
      });
    });

    it('gives the room that a session leaves to the longest waiting who may have it', async () => {
      const queue = await queueOf(2);
      const gates = new Map<string, PromiseWithResolvers<void>>();
      const seen: string[] = [];
      queue.start(async (key) => {
        seen.push(key);
        const gate = Promise.withResolvers<void>();
        gates.set(key, gate);
        await gate.promise;
      });
      for (const key of ['a1', 'a2', 'b1', 'b2']) await queue.enqueue(key, key[0]);
      await expect.poll(() => seen).toEqual(['a1', 'b1']);
      gates.get('b1')?.resolve();
      await expect.poll(() => seen).toEqual(['a1', 'b1', 'b2']);
      gates.get('a1')?.resolve();
      await expect.poll(() => seen).toEqual(['a1', 'b1', 'b2', 'a2']);
      for (const gate of gates.values()) gate.resolve();
    });

    it('goes on after a handler that throws', async () => {
      const queue = await queueOf(1);
      const seen: string[] = [];
      queue.start(async (key) => {
        seen.push(key);
        if (key === 'bad') throw new Error('broken');
      });
      await queue.enqueue('bad');
      await queue.enqueue('good');
      await expect.poll(() => seen).toEqual(['bad', 'good']);
    });

    it('takes no new work once stopped and waits for what runs', async () => {
      const queue = await queueOf(1);
      const gate = Promise.withResolvers<void>();
      const seen: string[] = [];
      queue.start(async (key) => {
        seen.push(key);
        await gate.promise;
      });
      await queue.enqueue('a');
      await queue.enqueue('b');
      await expect.poll(() => seen).toEqual(['a']);
      const stopped = queue.stop(5_000);
      gate.resolve();
      await stopped;
      expect(seen).toEqual(['a']);
    });
  });
}
