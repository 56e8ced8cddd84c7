import { z } from 'zod';
import type { Clock } from '../../src/clock.ts';
import type { PlatformMemory } from '../platform.ts';
import { type ChatLog, openChatLog } from './chat-log.ts';
import type { WebMessage } from './message.ts';

const chatRecord = z.object({ id: z.string(), title: z.string(), updatedAt: z.number() });
/** A line of the page's list of chats. */
export type ChatRecord = z.infer<typeof chatRecord>;

export interface ChatsOptions {
  memory: PlatformMemory;
  clock: Clock;
  onChange(chatId: string, message: WebMessage, before: WebMessage | undefined): void;
  onDropped(message: WebMessage): void;
  /** The list itself changed: a chat came, went, was named or spoke. */
  onList(): void;
}

export interface Chats {
  /** The latest first. */
  list(): ChatRecord[];
  /** Reads the log on first use. A chat that nobody knows yet has an empty one. */
  log(chatId: string): Promise<ChatLog>;
  /** Marks the chat as spoken in now; its first words give it a title. */
  touch(chatId: string, words: string): Promise<void>;
  remove(chatId: string): Promise<void>;
}

const titleLength = 60;

export async function openChats({
  memory,
  clock,
  onChange,
  onDropped,
  onList,
}: ChatsOptions): Promise<Chats> {
  const rows = await memory.list('chat/');
  const records = new Map(
    rows.map(({ value }) => {
      const record = chatRecord.parse(value);
      return [record.id, record];
    }),
  );
  const logs = new Map<string, Promise<ChatLog>>();

  function log(chatId: string): Promise<ChatLog> {
    const opened =
      logs.get(chatId) ??
      openChatLog({ chatId, memory, clock, onDropped, onChange: (...change) => onChange(chatId, ...change) });
    logs.set(chatId, opened);
    opened.catch(() => logs.delete(chatId));
    return opened;
  }

  return {
    log,
    list: () => [...records.values()].sort((left, right) => right.updatedAt - left.updatedAt),
    async touch(chatId, words) {
      const title = records.get(chatId)?.title || titleOf(words);
      const record = { id: chatId, title, updatedAt: clock.now() };
      await memory.set(`chat/${chatId}`, record);
      records.set(chatId, record);
      onList();
    },
    async remove(chatId) {
      await (await log(chatId)).clear();
      await memory.delete(`chat/${chatId}`);
      logs.delete(chatId);
      records.delete(chatId);
      onList();
    },
  };
}

function titleOf(words: string): string {
  const line = words.trim().split('\n', 1)[0] ?? '';
  const signs = [...line];
  return signs.length > titleLength
    ? `${signs
        .slice(0, titleLength - 1)
        .join('')
        .trimEnd()}…`
    : line;
}
