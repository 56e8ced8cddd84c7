import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { Attachment } from '../platform.ts';
import type { DiscordApi } from './api.ts';
import { messageShape } from './wire.ts';

const fileHosts: readonly string[] = ['cdn.discordapp.com', 'media.discordapp.net'];

export interface DownloadDeps {
  api: DiscordApi;
  apiRoot: string;
  limitBytes: number;
}

/** Fetches files of messages; only from Discord's own hosts, and no more than the limit. */
export function createDownloads({ api, apiRoot, limitBytes }: DownloadDeps) {
  const tooBig = (name: string) =>
    new GatewayError(
      'platform_refused',
      `${name} is larger than ${Math.floor(limitBytes / 1_048_576)} MiB.`,
      {
        mend: 'Send a smaller file or a link to it.',
      },
    );

  async function urlOf({ ref, name }: Attachment, signal: AbortSignal): Promise<URL> {
    const [kind, first = '', messageId = '', fileId = ''] = ref.split('/');
    if (kind === 'sticker') return new URL(`https://media.discordapp.net/stickers/${first}.png`);
    const path = `/channels/${first}/messages/${messageId}` as const;
    const message = await api.call({ method: 'get', path, what: 'find a file', signal }, messageShape);
    const forwarded = message.message_snapshots?.flatMap((snapshot) => snapshot.message.attachments) ?? [];
    const file = [...message.attachments, ...forwarded].find(({ id }) => id === fileId);
    if (file === undefined)
      throw new GatewayError('chat_gone', `${name ?? 'The file'} is no longer in the chat.`);
    const url = new URL(file.url);
    if (!fileHosts.includes(url.host) && url.host !== new URL(apiRoot).host) {
      throw new GatewayError(
        'platform_refused',
        `${name ?? 'A file'} is kept on ${url.host}, which is not Discord's.`,
      );
    }
    return url;
  }

  async function download(attachment: Attachment, path: string, signal: AbortSignal): Promise<void> {
    const name = attachment.name ?? 'The file';
    if ((attachment.bytes ?? 0) > limitBytes) throw tooBig(name);
    const url = await urlOf(attachment, signal);
    let received = 0;
    const measured = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        received += chunk.length;
        done(received > limitBytes ? tooBig(name) : null, chunk);
      },
    });
    try {
      const response = await fetch(url, { signal, redirect: 'error' });
      if (!response.ok || response.body === null) {
        throw new GatewayError(
          'platform_unreachable',
          `Discord answered HTTP ${response.status} for ${name}.`,
          {
            retryable: response.status >= 500 || response.status === 429,
          },
        );
      }
      await pipeline(Readable.fromWeb(response.body), measured, createWriteStream(path, { mode: 0o600 }), {
        signal,
      });
    } catch (error) {
      await rm(path, { force: true });
      if (error instanceof GatewayError) throw error;
      throw new GatewayError(
        'platform_unreachable',
        `${name} could not be fetched: ${errorMessage(error)}.`,
        {
          retryable: true,
        },
      );
    }
  }

  return { download };
}
