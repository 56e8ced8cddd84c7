import { createHash } from 'node:crypto';
import { mkdir, readdir, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../src/errors.ts';
import type { Log } from '../src/log.ts';
import type { Environment } from './environments/environment.ts';

export interface SpillPlace {
  /** The gateway's state directory. */
  home: string;
  /** Where read_file will look for the file. */
  environment(): Promise<Environment>;
  log: Log;
  /** Milliseconds since the epoch, to tell what is old. */
  now?: number;
}

const keptMs = 24 * 60 * 60 * 1000;
const sandboxFolder = '/tmp/hermes-spillover';

/**
 * Saves a long result where the session's file tools can read it and returns its path there: in
 * `<home>/cache/spillover` (0600) on this machine, else inside the sandbox. Rejects when it could not be saved whole.
 */
export async function saveSpill(toolCallId: string, text: string, place: SpillPlace): Promise<string> {
  const environment = await place.environment();
  const data = Buffer.from(text, 'utf8');
  const name = `${fileStem(toolCallId)}.txt`;
  if (environment.backend === 'local') return saveHere(name, data, place);
  const path = `${sandboxFolder}/${name}`;
  await environment.files.write(path, data);
  verifySize(path, (await environment.files.stat(path))?.bytes, data.length);
  return path;
}

async function saveHere(name: string, data: Buffer, { home, log, now }: SpillPlace): Promise<string> {
  const folder = join(home, 'cache', 'spillover');
  const path = join(folder, name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(path, data, { mode: 0o600 });
  verifySize(path, (await stat(path)).size, data.length);
  await pruneSpillover(home, now ?? Date.now()).catch((error: unknown) =>
    log.warn({ folder, error: errorMessage(error) }, 'Old spilled results could not be removed.'),
  );
  return path;
}

/** Removes what was spilled more than 24 hours before `now`. */
export async function pruneSpillover(home: string, now: number): Promise<void> {
  const folder = join(home, 'cache', 'spillover');
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (now - (await stat(path)).mtimeMs > keptMs) await unlink(path);
  }
}

/** A file name that no id can talk out of its folder; ids that had to be altered stay apart by a hash. */
function fileStem(toolCallId: string): string {
  const safe = toolCallId
    .replaceAll(/[^A-Za-z0-9_.-]/g, '_')
    .replace(/^\.+/, '_')
    .slice(0, 120);
  if (safe === toolCallId && safe !== '') return safe;
  const hash = createHash('sha256').update(toolCallId).digest('hex').slice(0, 12);
  return `${safe.slice(0, 107)}-${hash}`;
}

function verifySize(path: string, found: number | undefined, expected: number): void {
  if (found !== expected) throw new Error(`${path} has ${found ?? 'no'} bytes instead of ${expected}`);
}
