import { z } from 'zod';
import type { Clock } from '../../src/clock.ts';
import type { PlatformMemory } from '../platform.ts';

export interface ThreadRef {
  teamId: string;
  channel: string;
  threadTs: string;
}

/** The threads that the bot takes part in, remembered over restarts. */
export interface Threads {
  follows(thread: ThreadRef): Promise<boolean>;
  /** Records that the bot is in the thread and about when something last happened there. */
  follow(thread: ThreadRef): Promise<void>;
  /** Threads with something happening since `sinceMs`, newest first. */
  active(sinceMs: number): Promise<ThreadRef[]>;
  /** Forgets threads that lay still for a month. */
  prune(): Promise<void>;
}

const prefix = 'thread:';
const forgottenAfterMs = 30 * 86_400_000;
/** How far the time of a thread may lag behind: each write is a sync to disk. */
const rewriteAfterMs = 600_000;
const keptInMemory = 1000;
const record = z.object({ at: z.number() });

export function createThreads({ memory, clock }: { memory: PlatformMemory; clock: Clock }): Threads {
  const keyOf = ({ teamId, channel, threadTs }: ThreadRef) => `${prefix}${teamId}:${channel}:${threadTs}`;

  async function all(): Promise<{ key: string; at: number; thread: ThreadRef }[]> {
    const entries = await memory.list(prefix);
    return entries.flatMap(({ key, value }) => {
      const [teamId = '', channel = '', threadTs = ''] = key.slice(prefix.length).split(':');
      const known = record.safeParse(value);
      return [{ key, at: known.success ? known.data.at : 0, thread: { teamId, channel, threadTs } }];
    });
  }

  /** When each was last written by this process. */
  const written = new Map<string, number>();

  function noteWritten(key: string, at: number): void {
    written.delete(key);
    written.set(key, at);
    const oldest = written.keys().next().value;
    if (written.size > keptInMemory && oldest !== undefined) written.delete(oldest);
  }

  return {
    async follows(thread) {
      const key = keyOf(thread);
      return written.has(key) || record.safeParse(await memory.get(key)).success;
    },
    async follow(thread) {
      const key = keyOf(thread);
      const at = clock.now();
      const before = written.get(key);
      if (before !== undefined && at - before < rewriteAfterMs) return;
      await memory.set(key, { at });
      noteWritten(key, at);
    },
    async active(sinceMs) {
      const recent = (await all()).filter(({ at }) => at >= sinceMs);
      return recent.toSorted((a, b) => b.at - a.at).map(({ thread }) => thread);
    },
    async prune() {
      for (const { key, at } of await all()) {
        if (clock.now() - at > forgottenAfterMs) await memory.delete(key);
      }
    },
  };
}
