import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { isOwnerAlive, ownerMark } from './cloud-owner.ts';

/**
 * Every command has a tag in its environment. It names the installation and the gateway's process, so that what a
 * killed gateway left running is known by its environment alone, on whatever machine it runs.
 */
export type NewTag = () => string;

export const randomTag: NewTag = () => randomBytes(9).toString('hex');

export async function commandTags(installId: string): Promise<NewTag> {
  const prefix = `${installId}.${machineMark()}.${await ownerMark()}`;
  return () => `${prefix}.${randomTag()}`;
}

/** Which machine's process ids a name speaks of. */
export const machineMark = () => createHash('sha256').update(hostname()).digest('hex').slice(0, 6);

/** True when the gateway that started the command ran on this machine and is gone. */
export async function isLeftover(tag: string): Promise<boolean> {
  const [, machine, owner] = /\.([0-9a-f]{6})\.(\d+-\d*)\.[0-9a-f]+$/.exec(tag) ?? [];
  return machine === machineMark() && !(await isOwnerAlive(owner));
}
