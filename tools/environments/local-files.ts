import { randomBytes } from 'node:crypto';
import {
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { EnvironmentFiles, FileStat } from './environment.ts';

const absentCodes: readonly unknown[] = ['ENOENT', 'ENOTDIR'];

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && absentCodes.includes(error.code);
}

interface Kinds {
  isFile(): boolean;
  isDirectory(): boolean;
}

function kindOf(entry: Kinds): FileStat['kind'] {
  if (entry.isFile()) return 'file';
  return entry.isDirectory() ? 'directory' : 'other';
}

/** Files of this machine. Node's own errors pass through: their `code` is what the port promises. */
export function createLocalFiles(): EnvironmentFiles {
  return {
    async stat(path) {
      try {
        const [found, realPath] = await Promise.all([stat(path), realpath(path)]);
        return { kind: kindOf(found), bytes: found.size, modifiedMs: found.mtimeMs, realPath };
      } catch (error) {
        if (isAbsent(error)) return null;
        throw error;
      }
    },
    async read(path, { offset = 0, maxBytes } = {}) {
      const file = await open(path, 'r');
      try {
        const info = await file.stat();
        if (info.isDirectory())
          throw Object.assign(new Error(`EISDIR: ${path} is a folder`), { code: 'EISDIR' });
        // Files of /proc say that they are empty and are not.
        const size = info.size === 0 ? unknownSizeBytes : info.size - offset;
        return await readRange(
          file,
          offset,
          Math.max(0, Math.min(maxBytes ?? Number.MAX_SAFE_INTEGER, size)),
        );
      } finally {
        await file.close();
      }
    },
    write: writeAtomically,
    async list(path) {
      const entries = await readdir(path, { withFileTypes: true });
      return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
    },
    async remove(path) {
      await rm(path, { recursive: true, force: true });
    },
    rename,
  };
}

/** As much of a file whose size is not known as is read. */
const unknownSizeBytes = 1_000_000;

async function readRange(file: FileHandle, offset: number, wanted: number): Promise<Uint8Array> {
  const data = Buffer.alloc(wanted);
  let at = 0;
  while (at < wanted) {
    const { bytesRead } = await file.read(data, at, wanted - at, offset + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return data.subarray(0, at);
}

/** Beside the target, then renamed over it: readers see the old or the new content, never half of it. */
async function writeAtomically(path: string, data: Uint8Array): Promise<void> {
  // A link stays a link: what it points to is replaced.
  const target = await realpath(path).catch(() => path);
  await mkdir(dirname(target), { recursive: true });
  const old = await lstat(target).catch(() => null);
  if (old?.isDirectory()) throw Object.assign(new Error(`EISDIR: ${path} is a folder`), { code: 'EISDIR' });
  const temporary = join(
    dirname(target),
    `.${basename(target).slice(0, 100)}.${randomBytes(6).toString('hex')}`,
  );
  try {
    const file = await open(temporary, 'wx');
    try {
      await file.writeFile(data);
    } finally {
      await file.close();
    }
    if (old !== null) await chmod(temporary, old.mode & 0o7777);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
