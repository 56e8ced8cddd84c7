import { z } from 'zod';
import { errorMessage } from '../../src/errors.ts';
import type { SlackDeps } from './options.ts';

/**
 * The newest message seen in each channel, remembered over restarts: where catching up begins. Writing lags behind on
 * purpose, since each write is a sync to disk: a mark that is too old costs a repeated event, which the gateway drops
 * by its id. Only a channel's first mark is written at once, or a crash would forget that there is such a channel.
 */
export interface Seen {
  note(teamId: string, channel: string, ts: string): Promise<void>;
  all(): Promise<{ teamId: string; channel: string; ts: string }[]>;
  /** Writes what is noted; called by itself within a second or so. */
  flush(): Promise<void>;
}

const prefix = 'seen:';
const timestamp = z.string().regex(/^\d+\.\d+$/);
const writeAfterMs = 1000;

export function createSeen({ memory, clock, log }: SlackDeps): Seen {
  const newest = new Map<string, string>();
  const dirty = new Set<string>();
  let cancelWrite: (() => void) | undefined;

  async function flush(): Promise<void> {
    cancelWrite?.();
    cancelWrite = undefined;
    const keys = [...dirty];
    dirty.clear();
    await Promise.all(keys.map((key) => memory.set(key, newest.get(key))));
  }

  function flushLater(): void {
    cancelWrite ??= clock.after(writeAfterMs, () => {
      flush().catch((error: unknown) =>
        log.warn({ reason: errorMessage(error) }, 'Slack: read marks could not be saved'),
      );
    });
  }

  return {
    async note(teamId, channel, ts) {
      const key = `${prefix}${teamId}:${channel}`;
      const known = newest.get(key) ?? timestamp.safeParse(await memory.get(key)).data;
      if (known !== undefined && Number(known) >= Number(ts)) return;
      newest.set(key, ts);
      if (known === undefined) return memory.set(key, ts);
      dirty.add(key);
      flushLater();
    },
    async all() {
      await flush();
      const entries = await memory.list(prefix);
      return entries.flatMap(({ key, value }) => {
        const [teamId = '', channel = ''] = key.slice(prefix.length).split(':');
        const ts = timestamp.safeParse(value);
        return ts.success ? [{ teamId, channel, ts: ts.data }] : [];
      });
    },
    flush,
  };
}
