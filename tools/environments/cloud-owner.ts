import { createHash, randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { OpenContext, TerminalOptions } from './options.ts';
import { safeName } from './options.ts';
import { isAlive, processStat } from './process-tree.ts';

/** Under these names a service keeps whose sandbox it is. */
export const cloudLabels = {
  task: 'hermes_task_id',
  install: 'hermes_gateway',
  owner: 'hermes_owner',
  persistent: 'hermes_persistent',
} as const;

/**
 * Names this installation on accounts that other machines may use too, so a path does not do: a random text that is
 * made once and lies beside the sandboxes' files.
 */
export async function cloudInstallId(options: Pick<TerminalOptions, 'sandboxFolder'>): Promise<string> {
  const file = join(options.sandboxFolder, 'cloud-id');
  const known = await readFile(file, 'utf8').catch(() => '');
  if (/^[0-9a-f]{12}$/.test(known)) return known;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, randomBytes(6).toString('hex'), { mode: 0o600 });
  // Of two processes that start at once, one gives the name and both read it whole.
  await link(draft, file).catch((error) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  });
  await rm(draft);
  return readFile(file, 'utf8');
}

const longestTask = 24;

/** A sandbox's name at the service: unique in the account, the same for the task the next time, at most 63 long. */
export function sandboxName(installId: string, { taskId }: Pick<OpenContext, 'taskId'>, suffix = ''): string {
  const plain = safeName(taskId)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-');
  const hash = createHash('sha256').update(taskId).digest('hex').slice(0, 8);
  const task = plain.length <= longestTask ? plain : `${plain.slice(0, longestTask - 9)}-${hash}`;
  return `hermes-${installId}-${task}${suffix}`;
}

/** This process, told from a later one with the same pid by its start. */
export async function ownerMark(): Promise<string> {
  const stat = await processStat(process.pid);
  return `${process.pid}-${stat?.startTicks ?? ''}`;
}

/** False when the gateway that had a sandbox is gone: then nobody will stop it. */
export async function isOwnerAlive(mark: string | undefined): Promise<boolean> {
  const [pid = '', startTicks = ''] = (mark ?? '').split('-');
  if (!/^\d+$/.test(pid) || !isAlive(Number(pid))) return false;
  const stat = await processStat(Number(pid));
  return stat === null || startTicks === '' || stat.startTicks === startTicks;
}
