import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Figures } from '../figures.ts';

const run = promisify(execFile);
const installWithinMs = 300_000;

/** The size on disk of what a production install brings along, the Node binary apart. */
export async function measureSize(): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-size-'));
  try {
    for (const file of ['package.json', 'package-lock.json', '.npmrc'])
      await copyFile(file, join(folder, file));
    // Optional dependencies stay: the parser's native part is one. The binary goes by its name.
    await run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      timeout: installWithinMs,
    });
    const { stdout } = await run('du', ['-sk', '--exclude=node-linux-*', 'node_modules'], { cwd: folder });
    return { 'size.dependencies': Number(stdout.split('\t')[0]) / 1_024 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
