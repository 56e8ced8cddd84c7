import type { Chat, Message } from 'grammy/types';
import type { ChatAddress, ChatKind } from '../platform.ts';

/** The topic "General" of every forum. It is named nowhere: a send that names it is refused. */
const generalTopic = 1;

/** Where an outbound call goes: every call about a chat spreads these fields. */
export interface Target {
  chat_id: number | string;
  message_thread_id?: number;
}

export function targetOf({ chatId, threadId }: ChatAddress): Target {
  const thread = threadId === undefined ? generalTopic : Number(threadId);
  return {
    chat_id: chatId.startsWith('@') ? chatId : Number(chatId),
    ...(thread === generalTopic ? {} : { message_thread_id: thread }),
  };
}

/** A thread id without `is_topic_message` belongs to a chain of replies, which is no place of its own. */
export function addressOf(
  message: Pick<Message, 'chat' | 'message_thread_id' | 'is_topic_message'>,
): ChatAddress {
  const { chat, message_thread_id: thread, is_topic_message: inTopic } = message;
  const place = { platform: 'telegram', kind: kindOf(chat), chatId: String(chat.id) };
  if (inTopic !== true || thread === undefined || thread === generalTopic) return place;
  return { ...place, kind: place.kind === 'group' ? 'thread' : place.kind, threadId: String(thread) };
}

function kindOf({ type }: Chat): ChatKind {
  if (type === 'private') return 'dm';
  return type === 'channel' ? 'channel' : 'group';
}
