import type { DiscordDeps } from './options.ts';
import { isLater, later, snowflakeAt } from './snowflake.ts';

export interface Marks {
  /** Notes that everything up to this message of the channel is stored. */
  note(channelId: string, messageId: string): void;
  /** Notes that the gateway was heard now and nothing waits to be stored. */
  noteAlive(): void;
  read(): Promise<MarkSnapshot>;
  /** Writes what is noted; called by itself within a second or so. */
  flush(): Promise<void>;
}

export interface MarkSnapshot {
  /** By channel id. */
  seen: ReadonlyMap<string, string>;
  /** For channels without a mark of their own; absent before the first run. */
  alive: string | undefined;
}

const prefix = 'seen:';
const aliveKey = 'alive';
const writeAfterMs = 1000;
const forgetAfterMs = 30 * 24 * 3_600_000;

/**
 * How far each channel has been read, so that a start can ask for the rest. Writing lags behind on purpose: a mark
 * that is too old costs a repeated event, which the gateway drops by its id.
 */
export function createMarks({ clock, log, memory }: DiscordDeps): Marks {
  const dirty = new Map<string, string>();
  let cancelWrite: (() => void) | undefined;

  async function flush(): Promise<void> {
    cancelWrite?.();
    cancelWrite = undefined;
    const writes = [...dirty];
    dirty.clear();
    for (const [key, id] of writes) await memory.set(key, id);
  }

  function mark(key: string, id: string): void {
    const earlier = dirty.get(key);
    dirty.set(key, earlier === undefined ? id : later(earlier, id));
    cancelWrite ??= clock.after(writeAfterMs, () => {
      flush().catch((error: unknown) => log.warn({ err: error }, 'Discord read marks could not be saved'));
    });
  }

  return {
    note: (channelId, messageId) => mark(prefix + channelId, messageId),
    noteAlive: () => mark(aliveKey, snowflakeAt(clock.now())),
    flush,
    async read() {
      const oldest = snowflakeAt(clock.now() - forgetAfterMs);
      const seen = new Map<string, string>();
      for (const { key, value } of await memory.list(prefix)) {
        if (typeof value === 'string' && isLater(value, oldest)) seen.set(key.slice(prefix.length), value);
        else await memory.delete(key);
      }
      const alive = await memory.get(aliveKey);
      return { seen, alive: typeof alive === 'string' ? alive : undefined };
    },
  };
}
