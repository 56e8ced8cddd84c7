import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Api } from 'grammy';
import { GatewayError } from '../../src/errors.ts';
import type { Attachment } from '../platform.ts';
import { fileBytesIn } from './capabilities.ts';
import { mapError } from './errors.ts';
import { own } from './grammy-types.ts';
import type { TelegramSettings } from './options.ts';

/** Fetches a file of the Bot API into `path` (0600). Bot API: getFile, at most 20 MB. */
export async function download(
  api: Api,
  settings: TelegramSettings,
  attachment: Attachment,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  if (attachment.bytes !== undefined && attachment.bytes > fileBytesIn) throw tooBig(attachment.bytes);
  try {
    const file = await api.getFile(attachment.ref, own(signal));
    const response = await fetch(`${settings.apiRoot}/file/bot${settings.token}/${file.file_path}`, {
      signal,
    });
    if (!response.ok || !response.body) {
      throw new GatewayError('platform_refused', `Telegram does not give the file (${response.status}).`);
    }
    await pipeline(Readable.fromWeb(response.body), createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    const mapped = mapError(error, settings.token);
    throw /file is too big/i.test(mapped.message) ? tooBig(attachment.bytes) : mapped;
  }
}

function tooBig(bytes: number | undefined): GatewayError {
  const size = bytes === undefined ? 'The file' : `The file has ${Math.ceil(bytes / 1e6)} MB and`;
  return new GatewayError('platform_refused', `${size} is above the 20 MB that Telegram hands to bots.`, {
    mend: 'Send a smaller one, or a link.',
  });
}
