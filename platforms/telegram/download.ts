import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GatewayError } from '../../src/errors.ts';
import type { Attachment } from '../platform.ts';
import type { TelegramClient } from './client.ts';
import { toGatewayError } from './errors.ts';
import { fileBytesIn } from './limits.ts';

/** Fetches a file that came with a message into `path` (0600). Nothing is left behind when it fails. */
export async function download(
  client: TelegramClient,
  attachment: Attachment,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  if ((attachment.bytes ?? 0) > fileBytesIn) throw tooBig(attachment);
  try {
    const { file_path: remotePath, file_size: bytes = 0 } = await client.api.getFile(
      { file_id: attachment.ref },
      signal,
    );
    if (bytes > fileBytesIn) throw tooBig(attachment);
    if (remotePath === undefined)
      throw new GatewayError('platform_refused', 'Telegram gave no path for the file.');
    const answer = await client.transport.get(client.filePath(remotePath), signal);
    if (answer.statusCode !== 200) {
      answer.destroy();
      throw new GatewayError(
        'platform_refused',
        `Telegram answered HTTP ${answer.statusCode} instead of the file.`,
      );
    }
    await pipeline(answer, atMost(attachment), createWriteStream(path, { mode: 0o600, flags: 'w' }), {
      signal,
    });
  } catch (error) {
    await rm(path, { force: true });
    if (/file is too big/i.test(String(error))) throw tooBig(attachment);
    throw toGatewayError(error, 'getFile');
  }
}

function tooBig({ bytes, name = 'The file' }: Attachment): GatewayError {
  const size = bytes === undefined ? 'more' : `${Math.ceil(bytes / 2 ** 20)} MB`;
  return new GatewayError(
    'platform_refused',
    `${name} is too big: it has ${size}, and Telegram lets bots fetch at most 20 MB.`,
  );
}

function atMost(attachment: Attachment): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > fileBytesIn) done(tooBig(attachment));
      else done(null, chunk);
    },
  });
}
