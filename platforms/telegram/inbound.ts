import type { Message, Update, User } from 'grammy/types';
import type { InboundEvent, Sender } from '../platform.ts';
import { addressOf } from './address.ts';
import { attachmentsOf } from './attachments.ts';
import { isAddressed, isForAnotherBot, isIgnored, repliesTo, type Self, textOf } from './gate.ts';
import type { TelegramSettings } from './options.ts';

/** An update as an event, or null when it holds nothing for an agent: a service message, an ignored topic. */
export function toInboundEvent(update: Update, self: Self, settings: TelegramSettings): InboundEvent | null {
  const message = update.message ?? update.edited_message;
  if (message?.from === undefined || message.from.id === self.id) return null;
  const chat = addressOf(message);
  if (isIgnored(chat, settings) || isForAnotherBot(message, self)) return null;
  const attachments = attachmentsOf(message);
  const text = plainText(message, self);
  if (text === '' && attachments.length === 0) return null;
  return {
    eventId: String(update.update_id),
    kind: update.message === undefined ? 'edit' : 'message',
    chat,
    ...titleOf(message),
    sender: senderOf(message.from),
    messageId: String(message.message_id),
    text,
    addressed: isAddressed(message, self, settings),
    ...replyOf(message, self),
    attachments,
    ...(message.media_group_id !== undefined && { albumId: message.media_group_id }),
    sentAt: (message.edit_date ?? message.date) * 1_000,
  };
}

export function senderOf(user: User): Sender {
  return {
    id: String(user.id),
    name: [user.first_name, user.last_name].filter(Boolean).join(' '),
    isBot: user.is_bot,
    ...(user.language_code !== undefined && { locale: user.language_code }),
  };
}

function titleOf({ chat }: Message): { chatTitle?: string } {
  return chat.title === undefined ? {} : { chatTitle: chat.title };
}

function replyOf(message: Message, self: Self): Pick<InboundEvent, 'replyTo'> {
  const target = message.reply_to_message;
  if (target === undefined || target.forum_topic_created !== undefined) return {};
  const text = message.quote?.text ?? textOf(target);
  return {
    replyTo: {
      messageId: String(target.message_id),
      ...(text !== '' && { text }),
      toBot: repliesTo(message, self),
    },
  };
}

/** The text without the bot's own name at its edges, and with what has no text put into words. */
function plainText(message: Message, self: Self): string {
  const written = textOf(message) || describe(message);
  const command = /^(\/\w+)@\w+/.exec(written);
  if (command !== null) return `${command[1]}${written.slice(command[0].length)}`;
  const handle = new RegExp(`^\\s*@${self.username}\\b[,:]?\\s*|\\s*@${self.username}\\s*$`, 'giu');
  const bare = written.replace(handle, '');
  return bare === '' ? written : bare;
}

function describe(message: Message): string {
  const { location, venue, contact, poll, dice } = message;
  if (venue !== undefined) return `[place: ${venue.title}, ${venue.address}]`;
  if (location !== undefined) return `[location: ${location.latitude}, ${location.longitude}]`;
  if (contact !== undefined) {
    return `[contact: ${[contact.first_name, contact.last_name].filter(Boolean).join(' ')}, ${contact.phone_number}]`;
  }
  if (poll !== undefined)
    return `[poll: ${poll.question}: ${poll.options.map(({ text }) => text).join(', ')}]`;
  return dice === undefined ? '' : `[${dice.emoji} ${dice.value}]`;
}
