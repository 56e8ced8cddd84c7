import type { Message, MessageEntity } from 'grammy/types';
import type { ChatAddress } from '../platform.ts';
import type { TelegramSettings } from './options.ts';

/** What the bot knows of itself. */
export interface Self {
  id: number;
  username: string;
  /** Names of its slash commands. */
  commands: ReadonlySet<string>;
}

/** Whether a message is for the bot. The same in groups and in their topics. */
export function isAddressed(message: Message, self: Self, settings: TelegramSettings): boolean {
  if (message.chat.type === 'private' || !settings.requireMention) return true;
  if (settings.freeResponseChats.includes(String(message.chat.id))) return true;
  if (repliesTo(message, self)) return true;
  const text = textOf(message);
  if (entitiesOf(message).some((entity) => names(entity, text, self))) return true;
  return settings.mentionPatterns.some((pattern) => pattern.test(text));
}

/** Whether the bot is deaf to the topic of this message. Topics are listed by id, or as `chat:topic`. */
export function isIgnored({ chatId, threadId }: ChatAddress, { ignoredThreads }: TelegramSettings): boolean {
  return (
    threadId !== undefined &&
    [threadId, `${chatId}:${threadId}`].some((name) => ignoredThreads.includes(name))
  );
}

/** The root message of a topic counts as the reply target of all that is said in it, and is none. */
export function repliesTo(message: Message, self: Self): boolean {
  const target = message.reply_to_message;
  return target !== undefined && target.forum_topic_created === undefined && target.from?.id === self.id;
}

export function textOf(message: Message): string {
  return message.text ?? message.caption ?? '';
}

function entitiesOf(message: Message): readonly MessageEntity[] {
  return message.entities ?? message.caption_entities ?? [];
}

function names(entity: MessageEntity, text: string, self: Self): boolean {
  const part = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
  const handle = `@${self.username.toLowerCase()}`;
  if (entity.type === 'mention') return part === handle;
  if (entity.type === 'text_mention') return entity.user.id === self.id;
  if (entity.type !== 'bot_command') return false;
  const [name = '', bot] = part.slice(1).split('@');
  return bot === undefined ? self.commands.has(name) : `@${bot}` === handle;
}

/** A command that names another bot is that bot's, even in a chat where this one answers everything. */
export function isForAnotherBot(message: Message, self: Self): boolean {
  const bot = /^\/\w+@(\w+)/.exec(textOf(message))?.[1];
  return bot !== undefined && bot.toLowerCase() !== self.username.toLowerCase();
}
