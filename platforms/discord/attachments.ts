import type { Attachment, MediaKind } from '../platform.ts';
import { messageFlag, type WireMessage } from './wire.ts';

const kindByType: Readonly<Record<string, MediaKind>> = { image: 'photo', video: 'video', audio: 'audio' };

/** discord.com/developers/docs/resources/sticker#sticker-object-sticker-format-types: 3 is Lottie, a drawing in JSON. */
const lottie = 3;

/**
 * The files of a message. A link to Discord's file store lapses after a day, so `ref` names the message and the file
 * instead, and `download` asks for a fresh link.
 */
export function readAttachments(message: WireMessage): Attachment[] {
  const forwarded = message.message_snapshots?.flatMap((snapshot) => snapshot.message.attachments) ?? [];
  const files = [...message.attachments, ...forwarded].map((file): Attachment => {
    const voice = (message.flags & messageFlag.voice) !== 0;
    const kind = kindByType[file.content_type?.split('/')[0] ?? ''] ?? 'document';
    return {
      kind: voice ? 'voice' : kind,
      ref: `file/${message.channel_id}/${message.id}/${file.id}`,
      name: file.filename,
      ...(file.content_type ? { mimeType: file.content_type } : {}),
      bytes: file.size,
    };
  });
  const stickers = (message.sticker_items ?? [])
    .filter(({ format_type: format }) => format !== lottie)
    .map(
      ({ id, name }): Attachment => ({
        kind: 'sticker',
        ref: `sticker/${id}`,
        name: `${name}.png`,
        description: name,
      }),
    );
  return [...files, ...stickers];
}
