import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A home as for a bot behind a local Bot API server: no pace of the public one. Durable storage is the default. */
export async function makeHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'hermes-bench-'));
  await writeFile(join(home, 'config.yaml'), 'telegram:\n  pace: off\n', { mode: 0o600 });
  return home;
}
