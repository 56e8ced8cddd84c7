import type { Message } from 'grammy/types';
import type { Attachment, MediaKind } from '../platform.ts';

interface TelegramFile {
  file_id: string;
  file_size?: number | undefined;
  file_name?: string | undefined;
  mime_type?: string | undefined;
}

/** The files of a message. A file id stays valid for the bot that received it. */
export function attachmentsOf(message: Message): Attachment[] {
  const photo = message.photo?.at(-1);
  const { sticker } = message;
  const found: Attachment[] = [];
  const add = (kind: MediaKind, file: TelegramFile | undefined, description?: string) => {
    if (file !== undefined) found.push(attachment(kind, file, description));
  };
  add('photo', photo);
  add('video', message.video);
  // A GIF comes as an animation and again as a document, for old clients.
  add('video', message.animation);
  add('video', message.video_note);
  add('audio', message.audio);
  add('voice', message.voice);
  if (message.animation === undefined) add('document', message.document);
  add('sticker', sticker, [sticker?.emoji, sticker?.set_name].filter(Boolean).join(' '));
  return found;
}

function attachment(kind: MediaKind, file: TelegramFile, description = ''): Attachment {
  return {
    kind,
    ref: file.file_id,
    ...(file.file_name !== undefined && { name: file.file_name }),
    ...(file.mime_type !== undefined && { mimeType: file.mime_type }),
    ...(file.file_size !== undefined && { bytes: file.file_size }),
    ...(description !== '' && { description }),
  };
}
