import type { DiscordApi } from './api.ts';
import { withId } from './api.ts';
import { discordCode, refusedWith } from './errors.ts';
import type { DiscordDeps } from './options.ts';
import { isLater, snowflakeAt } from './snowflake.ts';
import { channelType } from './wire.ts';

export interface Threads {
  load(): Promise<void>;
  /** Whether the bot takes part in the thread, and so is spoken to without a mention. */
  takesPart(threadId: string): boolean;
  join(threadId: string): Promise<void>;
  /** The thread that hangs on a message, opened when there is none; null when Discord refuses one. */
  openOn(message: { id: string; channelId: string }, title: string): Promise<string | null>;
}

const key = (threadId: string): string => `thread:${threadId}`;
const forgetAfterMs = 180 * 24 * 3_600_000;
const archiveAfterMinutes = 1440;

/** Threads that the bot opened or wrote in. They are remembered over restarts. */
export function createThreads(api: DiscordApi, { clock, log, memory }: DiscordDeps): Threads {
  const joined = new Set<string>();
  const opening = new Map<string, Promise<string | null>>();

  async function join(threadId: string): Promise<void> {
    if (joined.has(threadId)) return;
    joined.add(threadId);
    await memory.set(key(threadId), clock.now());
  }

  async function open(message: { id: string; channelId: string }, name: string): Promise<string | null> {
    const body = { name, auto_archive_duration: archiveAfterMinutes };
    const what = 'open a thread';
    const base = `/channels/${message.channelId}` as const;
    try {
      await api.run({ method: 'post', path: `${base}/messages/${message.id}/threads`, what, body });
      return message.id;
    } catch (error) {
      // A thread has the id of its message, so whoever opened it, this is the one.
      if (refusedWith(error, discordCode.threadExists)) return message.id;
      log.warn({ err: error, channel: message.channelId }, 'no thread could be opened on the message');
      // No permission is no permission for the other way either.
      if (refusedWith(error, discordCode.missingPermissions, discordCode.missingAccess)) return null;
    }
    try {
      const alone = { ...body, type: channelType.publicThread };
      return (await api.call({ method: 'post', path: `${base}/threads`, what, body: alone }, withId)).id;
    } catch (error) {
      log.warn(
        { err: error, channel: message.channelId },
        'no thread could be opened; the answer goes to the channel',
      );
      return null;
    }
  }

  return {
    async load() {
      const oldest = snowflakeAt(clock.now() - forgetAfterMs);
      for (const entry of await memory.list('thread:')) {
        const id = entry.key.slice('thread:'.length);
        if (isLater(oldest, id)) await memory.delete(entry.key);
        else joined.add(id);
      }
    },
    takesPart: (threadId) => joined.has(threadId),
    join,
    async openOn(message, title) {
      const running = opening.get(message.id);
      if (running !== undefined) return running;
      const attempt = open(message, title);
      opening.set(message.id, attempt);
      try {
        const threadId = await attempt;
        if (threadId !== null) await join(threadId);
        return threadId;
      } finally {
        opening.delete(message.id);
      }
    },
  };
}
