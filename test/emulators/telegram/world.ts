import type { Keyboard } from './rules.ts';
import { badRequest, type UploadedFile } from './wire.ts';

export interface Person {
  id: number;
  first_name: string;
  is_bot: boolean;
  username?: string;
  language_code?: string;
}

export interface TelegramChat {
  id: number;
  type: 'private' | 'group' | 'supergroup';
  title?: string;
  first_name?: string;
  is_forum?: true;
}

/** A message as it stands now. */
export interface StoredMessage {
  id: number;
  chat: TelegramChat;
  from: Person;
  threadId?: number;
  /** What is seen, its markup read; for a rich message the Markdown. */
  text: string;
  /** As it was sent. */
  source: { text?: string; parseMode?: string; rich?: string };
  keyboard: Keyboard;
  file?: UploadedFile & { method: string };
  replyTo?: number;
  silent: boolean;
  date: number;
  edits: number;
  reaction?: string;
}

export interface World {
  bot: Person & { username: string };
  chats: Map<number, TelegramChat>;
  topics: Map<number, Set<number>>;
  messages: Map<number, StoredMessage[]>;
  files: Map<string, UploadedFile>;
  /** People who blocked the bot, groups that threw it out. */
  closedChats: Set<number>;
  /** New ids of groups that became supergroups. */
  moved: Map<number, number>;
  /** Private chats and basic groups share a counter of the bot; a supergroup has one of its own. */
  nextId(chat: TelegramChat): number;
}

export function createWorld(botId: number): World {
  let last = 100;
  const lastIn = new Map<number, number>();
  return {
    bot: { id: botId, first_name: 'Hermes', is_bot: true, username: 'hermes_test_bot' },
    chats: new Map(),
    topics: new Map(),
    messages: new Map(),
    files: new Map(),
    closedChats: new Set(),
    moved: new Map(),
    nextId({ id, type }) {
      if (type !== 'supergroup') return ++last;
      const next = (lastIn.get(id) ?? 101) + 1;
      lastIn.set(id, next);
      return next;
    },
  };
}

/** A chat keeps its newest messages, so that a long run holds its size. */
const keptMessages = 500;

export function addMessage(world: World, message: StoredMessage): StoredMessage {
  const list = world.messages.get(message.chat.id) ?? [];
  list.push(message);
  if (list.length > keptMessages) list.shift();
  world.messages.set(message.chat.id, list);
  return message;
}

export function findMessage(world: World, chatId: number, id: number): StoredMessage | undefined {
  return world.messages.get(chatId)?.findLast((message) => message.id === id);
}

/** The one who wrote it may change it. */
export function ownMessage(world: World, chatId: number, id: unknown, deed: string): StoredMessage {
  const message = typeof id === 'number' ? findMessage(world, chatId, id) : undefined;
  if (message === undefined) throw badRequest(`message to ${deed} not found`);
  if (message.from.id !== world.bot.id)
    throw badRequest(`message can't be ${deed === 'edit' ? 'edited' : 'deleted'}`);
  return message;
}

/** A message in the shape of the Bot API. */
export function toWire(world: World, message: StoredMessage): Record<string, unknown> {
  const { id, chat, from, threadId, text, file, keyboard, replyTo, date, edits, source } = message;
  const target = replyTo === undefined ? undefined : findMessage(world, chat.id, replyTo);
  return {
    message_id: id,
    date,
    chat,
    from,
    ...(threadId !== undefined && { message_thread_id: threadId, is_topic_message: true }),
    ...(source.rich !== undefined
      ? { rich_message: { blocks: [] } }
      : file === undefined
        ? { text }
        : { caption: text }),
    ...(keyboard.length > 0 && { reply_markup: { inline_keyboard: keyboard } }),
    ...(target !== undefined && { reply_to_message: toWire(world, withoutReply(target)) }),
    ...(edits > 0 && { edit_date: date + edits }),
  };
}

/** Telegram shows one step of a chain of replies. */
function withoutReply({ replyTo: _cut, ...message }: StoredMessage): StoredMessage {
  return message;
}
