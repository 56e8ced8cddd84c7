import { stat } from 'node:fs/promises';
import { GatewayError } from '../../src/errors.ts';
import type { MediaKind } from '../platform.ts';
import type { TelegramClient, Uploads } from './client.ts';
import { isContentRefusal } from './errors.ts';
import { captionLimit, fileBytesOut } from './limits.ts';
import type { TelegramPayload } from './payload.ts';
import type { SendFields } from './send.ts';

type FilePayload = Extract<TelegramPayload, { kind: 'file' }>;

/** Uploads a file from disk. A picture or a sound that Telegram cannot take as such goes as a document. */
export async function sendFile(
  client: TelegramClient,
  fields: SendFields,
  payload: FilePayload,
  signal: AbortSignal,
): Promise<{ message_id: number }> {
  await checkSize(payload);
  const uploads = await client.uploads();
  try {
    return await upload(uploads, fields, payload, payload.as, signal);
  } catch (error) {
    if (payload.as === 'document' || !isContentRefusal(error)) throw error;
    return upload(uploads, fields, payload, 'document', signal);
  }
}

async function checkSize({ path, name }: FilePayload): Promise<void> {
  const { size } = await stat(path).catch((error) =>
    Promise.reject(
      new GatewayError('platform_refused', `The file ${name} to be sent is not there any more.`, {
        cause: error,
      }),
    ),
  );
  if (size > fileBytesOut) {
    throw new GatewayError(
      'platform_refused',
      `The file ${name} has ${Math.ceil(size / 2 ** 20)} MB; Telegram takes 50 MB from bots.`,
    );
  }
}

/** grammY writes the name into a header without quotes. */
const headerSafe = (name: string): string => name.replace(/[\p{Cc};"\\/]/gu, '_');

function upload(
  { api, inputFile }: Uploads,
  fields: SendFields,
  { path, name, caption }: FilePayload,
  as: MediaKind,
  signal: AbortSignal,
): Promise<{ message_id: number }> {
  const file = inputFile(path, headerSafe(name));
  const shared = {
    ...fields,
    ...(caption !== undefined && caption.length <= captionLimit && { caption, parse_mode: 'HTML' as const }),
  };
  switch (as) {
    case 'photo':
      return api.sendPhoto({ ...shared, photo: file }, signal);
    case 'video':
      return api.sendVideo({ ...shared, video: file }, signal);
    case 'audio':
      return api.sendAudio({ ...shared, audio: file }, signal);
    case 'voice':
      return api.sendVoice({ ...shared, voice: file }, signal);
    case 'sticker':
      return api.sendSticker({ ...fields, sticker: file }, signal);
    case 'document':
      return api.sendDocument({ ...shared, document: file }, signal);
  }
}
