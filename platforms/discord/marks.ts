import type { DiscordDeps } from './options.ts';
import { isLater, later, snowflakeAt } from './snowflake.ts';

export interface Marks {
  /** Notes that everything for the bot up to this message of the channel is stored. */
  note(channel: { id: string; direct: boolean }, messageId: string): void;
  /** Notes that the gateway was heard now and nothing waits to be stored. */
  noteAlive(): void;
  read(): Promise<MarkSnapshot>;
  /** Writes what is noted; called by itself within a second or so. */
  flush(): Promise<void>;
}

export interface MarkSnapshot {
  /** The last stored message by channel id. */
  seen: ReadonlyMap<string, string>;
  /** Those of them that are DMs. */
  direct: ReadonlySet<string>;
  /** Up to when all that was heard anywhere is stored; absent before the first run. */
  alive: string | undefined;
}

const prefix = 'seen:';
const directPrefix = 'seen:dm:';
const aliveKey = 'alive';
const writeAfterMs = 1000;
/** This machine's clock may be ahead of Discord's, by which messages are numbered. */
const aliveMarginMs = 10 * 60_000;
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
    note: ({ id, direct }, messageId) => mark((direct ? directPrefix : prefix) + id, messageId),
    noteAlive: () => mark(aliveKey, snowflakeAt(clock.now() - aliveMarginMs)),
    flush,
    async read() {
      const oldest = snowflakeAt(clock.now() - forgetAfterMs);
      const seen = new Map<string, string>();
      const direct = new Set<string>();
      for (const { key, value } of await memory.list(prefix)) {
        const isDirect = key.startsWith(directPrefix);
        const id = key.slice(isDirect ? directPrefix.length : prefix.length);
        if (typeof value !== 'string' || isLater(oldest, value)) {
          await memory.delete(key);
          continue;
        }
        seen.set(id, value);
        if (isDirect) direct.add(id);
      }
      const alive = await memory.get(aliveKey);
      return { seen, direct, alive: typeof alive === 'string' ? alive : undefined };
    },
  };
}
