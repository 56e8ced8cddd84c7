import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';

/** Which snapshot holds a task's files, in a small JSON file. */
export interface SnapshotBook {
  get(key: string): Promise<string | null>;
  /** Null forgets it. */
  set(key: string, id: string | null): Promise<void>;
}

const shape = z.record(z.string(), z.string());

export function createSnapshotBook(file: string): SnapshotBook {
  let last: Promise<void> = Promise.resolve();

  /** A file that is missing or damaged has nothing to restore from. */
  async function load(): Promise<Record<string, string>> {
    const text = await readFile(file, 'utf8').catch(() => '{}');
    try {
      return shape.safeParse(JSON.parse(text)).data ?? {};
    } catch {
      return {};
    }
  }

  async function change(key: string, id: string | null): Promise<void> {
    const { [key]: _old, ...others } = await load();
    const draft = `${file}.${randomBytes(6).toString('hex')}`;
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(draft, `${JSON.stringify({ ...others, ...(id !== null && { [key]: id }) }, null, 2)}\n`, {
      mode: 0o600,
    });
    await rename(draft, file);
  }

  return {
    get: async (key) => (await load())[key] ?? null,
    set(key, id) {
      // In turn: two changes at once would lose one.
      last = last.catch(() => undefined).then(() => change(key, id));
      return last;
    },
  };
}
