const tails = new Map<string, Promise<void>>();

/**
 * Runs `work` while no other holder has any of the keys. Keys are taken in sorted order, so that two edits of the
 * same files cannot wait for each other.
 */
export async function withLocks<Value>(keys: readonly string[], work: () => Promise<Value>): Promise<Value> {
  const releases: (() => void)[] = [];
  try {
    for (const key of [...new Set(keys)].sort()) releases.push(await take(key));
    return await work();
  } finally {
    for (const release of releases) release();
  }
}

async function take(key: string): Promise<() => void> {
  const previous = tails.get(key) ?? Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const tail = previous.then(() => promise);
  tails.set(key, tail);
  await previous;
  return () => {
    resolve();
    if (tails.get(key) === tail) tails.delete(key);
  };
}
