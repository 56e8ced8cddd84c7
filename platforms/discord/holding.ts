import type { ChatAddress } from '../platform.ts';
import { type Channels, isForum } from './channels.ts';
import type { Threads } from './threads.ts';

/** Finds the channel in which a message of a chat lives. */
export function createHolding(channels: Channels, threads: Threads) {
  return async ({ kind, chatId, threadId }: ChatAddress, messageId: string): Promise<string> => {
    if (kind === 'dm') return chatId;
    // A forum post's first message has the id of its thread and lives in it; the message that an ordinary thread
    // hangs on has that id as well, but lives in the parent channel.
    if (threadId === undefined) return isForum(await channels.get(chatId)) ? messageId : chatId;
    if (threads.isRefused(threadId)) return chatId;
    return messageId === threadId && !isForum(await channels.get(chatId)) ? chatId : threadId;
  };
}
export type Holding = ReturnType<typeof createHolding>;
