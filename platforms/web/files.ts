import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, copyFile, mkdir, rm, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { MediaKind } from '../platform.ts';
import type { StoredFile } from './message.ts';

/** Files that the page sent or was sent, in one folder (0700, files 0600) under names of our own making. */
export interface WebFiles {
  /** Keeps a request's body. Rejects with `usage` above the limit. */
  save(body: ReadableStream<Uint8Array> | null, name: string): Promise<StoredFile>;
  /** Takes a copy of a file that the agent sends, which may be gone tomorrow. */
  take(path: string, name: string): Promise<StoredFile>;
  /** Null when there is no such file. */
  describe(id: string, name: string): Promise<StoredFile | null>;
  copyTo(id: string, path: string): Promise<void>;
  open(file: StoredFile): ReadableStream<Uint8Array>;
  remove(id: string): Promise<void>;
}

/** What a browser may show in the page; anything else is offered as a download. No SVG: it can hold scripts. */
const types: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.mp3': 'audio/mpeg',
  '.ogg': 'audio/ogg',
  '.wav': 'audio/wav',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.zip': 'application/zip',
};

const idShape = /^[A-Za-z0-9_-]{24}(?:\.[a-z0-9]{1,8})?$/;

export function createFiles(folder: string, maxBytes: number): WebFiles {
  const pathOf = (id: string) => {
    if (!idShape.test(id)) throw new GatewayError('usage', 'This is not the id of a file of the web chat.');
    return join(folder, id);
  };

  async function fresh(name: string): Promise<{ id: string; path: string }> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const suffix = /^\.[a-z0-9]{1,8}$/.exec(extname(name).toLowerCase())?.[0] ?? '';
    const id = randomBytes(18).toString('base64url') + suffix;
    return { id, path: pathOf(id) };
  }

  async function describe(id: string, name: string): Promise<StoredFile | null> {
    const found = await stat(pathOf(id)).catch(() => null);
    if (found === null) return null;
    const mimeType = types[extname(id)] ?? 'application/octet-stream';
    return { id, name: safeName(name), mimeType, bytes: found.size };
  }

  async function described(id: string, name: string): Promise<StoredFile> {
    const file = await describe(id, name);
    if (file === null)
      throw new GatewayError('platform_refused', `The file ${name} vanished while it was stored.`);
    return file;
  }

  return {
    describe,
    async save(body, name) {
      const { id, path } = await fresh(name);
      try {
        const source = body === null ? Readable.from([]) : Readable.from(body);
        await pipeline(source, limitTo(maxBytes), createWriteStream(path, { mode: 0o600, flags: 'wx' }));
      } catch (error) {
        await rm(path, { force: true });
        throw error;
      }
      return described(id, name);
    },
    async take(from, name) {
      const size = await stat(from).then(
        (found) => found.size,
        (error: unknown) => {
          throw new GatewayError(
            'platform_refused',
            `The file ${name} cannot be sent: ${errorMessage(error)}`,
          );
        },
      );
      if (size > maxBytes) throw tooLarge(maxBytes);
      const { id, path } = await fresh(name);
      await copyFile(from, path);
      await chmod(path, 0o600);
      return described(id, name);
    },
    async copyTo(id, path) {
      try {
        await copyFile(pathOf(id), path);
        await chmod(path, 0o600);
      } catch (error) {
        throw new GatewayError(
          'platform_refused',
          `The uploaded file cannot be read: ${errorMessage(error)}`,
          {
            mend: 'Send the file again.',
            cause: error,
          },
        );
      }
    },
    open: (file) => Readable.toWeb(createReadStream(pathOf(file.id))),
    remove: (id) => rm(pathOf(id), { force: true }),
  };
}

export function mediaKind({ mimeType }: StoredFile): MediaKind {
  const family = mimeType.split('/', 1)[0];
  return family === 'image' ? 'photo' : family === 'audio' || family === 'video' ? family : 'document';
}

function safeName(name: string): string {
  return (
    basename(name.replaceAll('\\', '/'))
      .replace(/[\u0000-\u001f\u007f-\u009f"]/g, '')
      .slice(0, 200) || 'file'
  );
}

function limitTo(maxBytes: number): Transform {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      if (seen > maxBytes) done(tooLarge(maxBytes));
      else done(null, chunk);
    },
  });
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError(
    'usage',
    `The file is larger than ${Math.floor(maxBytes / 1e6)} MB, the most that fits.`,
  );
}
