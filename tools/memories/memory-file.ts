import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withLocks } from '../files/locks.ts';
import { withLockFile } from './lock-file.ts';
import { findInjection } from './scan.ts';

/** `memory`: what the agent notes about its work. `user`: what it knows about the person. */
export type MemoryTarget = 'memory' | 'user';

const fileNames: Readonly<Record<MemoryTarget, string>> = { memory: 'MEMORY.md', user: 'USER.md' };
const separator = '\n§\n';

/** The entries on disk, none when there is no file yet. */
export async function readEntries(folder: string, target: MemoryTarget): Promise<string[]> {
  try {
    return parse(await readFile(join(folder, fileNames[target]), 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Changes the entries while nobody else does, by an atomic replacement (0600). `change` returns the
 * new entries, or null to leave the file alone.
 */
export function changeEntries(
  folder: string,
  target: MemoryTarget,
  change: (entries: readonly string[]) => readonly string[] | null,
): Promise<void> {
  const path = join(folder, fileNames[target]);
  // In turn within this process, by a lock file among processes.
  return withLocks([path], async () => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await withLockFile(`${path}.lock`, async () => {
      const changed = change(await readEntries(folder, target));
      if (changed !== null) await replaceFile(path, format(changed));
    });
  });
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, path);
}

/**
 * The entries as they go into a system prompt, frozen there for the session. What looks like an injection, however
 * it came onto the disk, is replaced by a note.
 */
export async function memorySnapshot(folder: string, target: MemoryTarget): Promise<string> {
  const entries = await readEntries(folder, target);
  return entries
    .map((entry) => {
      const found = findInjection(entry);
      return found === null ? entry : `[entry left out: it looks like ${found}]`;
    })
    .join(separator);
}

/** How many characters the entries take, separators included. */
export const sizeOf = (entries: readonly string[]): number => entries.join(separator).length;

const parse = (text: string): string[] =>
  text
    .replaceAll('\r\n', '\n')
    .split(/^§\s*$/m)
    .map((entry) => entry.trim())
    .filter(Boolean);

const format = (entries: readonly string[]): string =>
  entries.length === 0 ? '' : `${entries.join(separator)}\n`;
