import { open, stat, unlink } from 'node:fs/promises';
import { sleep, systemClock } from '../../src/clock.ts';

const retryMs = 20;
const patienceMs = 5_000;
/** Work under the lock takes milliseconds: an older lock is what a killed process left behind. */
const staleMs = 10_000;

/** Runs `work` while no other process that asks for the same lock file does. Rejects after 5 s of waiting. */
export async function withLockFile<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
  const deadline = systemClock.now() + patienceMs;
  while (!(await take(path))) {
    if (systemClock.now() >= deadline) throw new Error(`${path} is held by another process. Try again.`);
    await sleep(systemClock, retryMs);
  }
  try {
    return await work();
  } finally {
    await unlink(path);
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    const held = await stat(path).catch(() => null); // Given back in the meantime.
    if (held && systemClock.now() - held.mtimeMs > staleMs) await unlink(path).catch(() => undefined);
    return false;
  }
}
