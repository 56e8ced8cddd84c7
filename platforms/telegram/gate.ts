import type { Message, UserFromGetMe } from 'grammy/types';
import type { TelegramSettings } from './options.ts';

export interface Gate {
  /** Whether this topic is listened to at all. */
  listens(message: Message): boolean;
  /** Whether the bot was spoken to. */
  isAddressed(message: Message): boolean;
}

/** Decides in groups whether a message is meant for the bot; in private chats every one is. */
export function createGate(settings: TelegramSettings, me: UserFromGetMe): Gate {
  const name = me.username.toLowerCase();
  const patterns = settings.mentionPatterns.map((pattern) => new RegExp(pattern, 'i'));

  function isMentioned(message: Message): boolean {
    const text = message.text ?? message.caption ?? '';
    for (const entity of message.entities ?? message.caption_entities ?? []) {
      const word = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
      if (entity.type === 'mention' && word === `@${name}`) return true;
      if (entity.type === 'text_mention' && entity.user.id === me.id) return true;
      // A bare /command counts where the bot sees it: in groups clients add @bot when there are several.
      if (entity.type === 'bot_command' && (!word.includes('@') || word.endsWith(`@${name}`))) return true;
    }
    return patterns.some((pattern) => pattern.test(text));
  }

  return {
    listens(message) {
      const thread = String(message.message_thread_id ?? '');
      return !settings.ignoredThreads.some(
        (ignored) => ignored === thread || ignored === `${message.chat.id}:${thread}`,
      );
    },
    isAddressed(message) {
      if (message.chat.type === 'private' || !settings.requireMention) return true;
      if (settings.freeResponseChats.includes(String(message.chat.id))) return true;
      return message.reply_to_message?.from?.id === me.id || isMentioned(message);
    },
  };
}
