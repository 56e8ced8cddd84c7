import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A home as for bots behind servers or proxies of one's own: no public pace. Durable storage is the default. */
export async function makeHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'hermes-bench-'));
  const config = ['telegram', 'discord', 'slack'].map((name) => `${name}: {pace: off}\n`).join('');
  await writeFile(join(home, 'config.yaml'), config, { mode: 0o600 });
  return home;
}
