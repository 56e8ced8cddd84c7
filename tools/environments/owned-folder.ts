import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isOwnerAlive, ownerMark } from './cloud-owner.ts';

/** A new private folder of this process below `root`. Those of processes that were killed are removed. */
export async function makeOwnedFolder(root: string, prefix: string): Promise<string> {
  // Older gateways named the pid alone.
  const shape = new RegExp(`^${prefix}-(\\d+(?:-\\d*)?)-\\w{6}$`);
  const removed = (await readdir(root)).map(async (name) => {
    const owner = shape.exec(name)?.[1];
    if (owner === undefined || (await isOwnerAlive(owner))) return;
    await rm(join(root, name), { recursive: true, force: true });
  });
  await Promise.all(removed);
  return mkdtemp(join(root, `${prefix}-${await ownerMark()}-`));
}
