import type { CallbackQuery, Chat, Message, Update, User, UserFromGetMe } from 'grammy/types';
import type { Attachment, ChatAddress, InboundEvent, Press, Sender } from '../platform.ts';
import type { Gate } from './gate.ts';

export type Incoming =
  | { kind: 'event'; event: InboundEvent }
  | { kind: 'press'; press: Press; queryId: string };

/** What an update says to the gateway, or null when it is nothing that it acts on. */
export function readUpdate(update: Update, gate: Gate, me: UserFromGetMe): Incoming | null {
  if (update.callback_query) return readPress(update.callback_query, update.update_id);
  const edited = update.edited_message;
  const message = update.message ?? edited;
  if (!message?.from || message.from.id === me.id || !gate.listens(message)) return null;
  const attachments = attachmentsOf(message);
  const text = withoutMention(message.text ?? message.caption ?? locationText(message), me.username);
  if (text === '' && attachments.length === 0) return null;
  const replied = message.reply_to_message;
  const event: InboundEvent = {
    eventId: String(update.update_id),
    kind: edited ? 'edit' : 'message',
    chat: addressOf(message.chat, message),
    ...(message.chat.title !== undefined && { chatTitle: message.chat.title }),
    sender: senderOf(message.from),
    messageId: String(message.message_id),
    text,
    addressed: gate.isAddressed(message),
    ...(replied && !replied.forum_topic_created && { replyTo: replyOf(replied, me) }),
    attachments,
    ...(message.media_group_id !== undefined && { albumId: message.media_group_id }),
    sentAt: message.date * 1000,
  };
  return { kind: 'event', event };
}

function readPress(query: CallbackQuery, updateId: number): Incoming | null {
  if (!query.message || query.data === undefined) return null;
  const { message } = query;
  const press: Press = {
    eventId: String(updateId),
    chat: addressOf(message.chat, 'date' in message && message.date !== 0 ? message : null),
    sender: senderOf(query.from),
    messageId: String(message.message_id),
    buttonId: query.data,
  };
  return { kind: 'press', press, queryId: query.id };
}

export function addressOf(
  chat: Chat,
  message: Pick<Message, 'message_thread_id' | 'is_topic_message'> | null,
): ChatAddress {
  const kinds = { private: 'dm', group: 'group', supergroup: 'group', channel: 'channel' } as const;
  const thread = message?.is_topic_message ? message.message_thread_id : undefined;
  return {
    platform: 'telegram',
    kind: kinds[chat.type],
    chatId: String(chat.id),
    ...(thread !== undefined && { threadId: String(thread) }),
  };
}

function senderOf(user: User): Sender {
  const name = [user.first_name, user.last_name].filter((part) => part).join(' ');
  return {
    id: String(user.id),
    name,
    isBot: user.is_bot,
    ...(user.language_code !== undefined && { locale: user.language_code }),
  };
}

function replyOf(message: Message, me: UserFromGetMe): NonNullable<InboundEvent['replyTo']> {
  const text = message.text ?? message.caption;
  return {
    messageId: String(message.message_id),
    toBot: message.from?.id === me.id,
    ...(text !== undefined && { text }),
  };
}

/** The mention is how the bot was called, not what was said. */
function withoutMention(text: string, username: string): string {
  const mention = `@${username}`;
  const at = text.toLowerCase().indexOf(mention.toLowerCase());
  const isCommand = text.startsWith('/') && !/\s/.test(text.slice(0, Math.max(at, 0)));
  if (at < 0 || isCommand) return text.trim();
  return `${text.slice(0, at)}${text.slice(at + mention.length)}`.replace(/ {2,}/g, ' ').trim();
}

function locationText({ location }: Message): string {
  return location ? `[Location: ${location.latitude}, ${location.longitude}]` : '';
}

function attachmentsOf(message: Message): Attachment[] {
  const { photo, document, voice, audio, video, video_note: note, sticker } = message;
  const found: Attachment[] = [];
  const best = photo?.at(-1);
  if (best)
    found.push({ kind: 'photo', ref: best.file_id, mimeType: 'image/jpeg', ...bytesOf(best.file_size) });
  if (document) found.push({ kind: 'document', ref: document.file_id, ...namesOf(document) });
  if (voice) found.push({ kind: 'voice', ref: voice.file_id, ...namesOf(voice) });
  if (audio) found.push({ kind: 'audio', ref: audio.file_id, ...namesOf(audio) });
  const film = video ?? note;
  if (film) found.push({ kind: 'video', ref: film.file_id, ...bytesOf(film.file_size) });
  if (sticker) found.push({ kind: 'sticker', ref: sticker.file_id, description: sticker.emoji ?? '' });
  return found;
}

function namesOf(file: { file_name?: string; mime_type?: string; file_size?: number }): Partial<Attachment> {
  return {
    ...(file.file_name !== undefined && { name: file.file_name }),
    ...(file.mime_type !== undefined && { mimeType: file.mime_type }),
    ...bytesOf(file.file_size),
  };
}

function bytesOf(size: number | undefined): { bytes?: number } {
  return size === undefined ? {} : { bytes: size };
}
