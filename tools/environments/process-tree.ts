import { readdir, readFile } from 'node:fs/promises';
import { sleep, systemClock } from '../../src/clock.ts';

/**
 * Ending a command with everything that it started. A process group is not enough: `setsid` and double forks leave
 * it. Each command carries its tag in the environment, which every descendant inherits, so members are found by
 * group or by tag, wherever they went. A tag is random, so a recycled pid is never taken for a member.
 */
export const tagVariable = 'HERMES_COMMAND';

const termGraceMs = 800;
const killGraceMs = 800;
const pollMs = 15;

/** TERM, a grace, KILL; resolves with the pids that still live. `group` is the process group's leader. */
export async function killTree(group: number, tag: string): Promise<number[]> {
  for (const { signal, graceMs } of [
    { signal: 'SIGTERM', graceMs: termGraceMs },
    { signal: 'SIGKILL', graceMs: killGraceMs },
  ] as const) {
    const until = Date.now() + graceMs;
    let alive = await treeMembers(group, tag);
    for (const pid of alive) send(pid, signal);
    while (alive.length > 0 && Date.now() < until) {
      await sleep(systemClock, pollMs);
      alive = await treeMembers(group, tag);
      // What was forked in the meantime gets the final signal too.
      if (signal === 'SIGKILL') for (const pid of alive) send(pid, signal);
    }
    if (alive.length === 0) return [];
  }
  return treeMembers(group, tag);
}

/** Living processes of the group or with the tag. Zombies are dead: only their parent's `wait` is missing. */
export async function treeMembers(group: number, tag: string): Promise<number[]> {
  const entries = await readdir('/proc').catch(() => null);
  if (entries === null) return isAlive(-group) ? [-group] : [];
  const pids = entries.filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => ((await isMember(pid, group, tag)) ? [pid] : [])));
  return found.flat();
}

async function isMember(pid: number, group: number, tag: string): Promise<boolean> {
  const stat = await processStat(pid);
  if (stat === null || stat.state === 'Z' || stat.state === 'X') return false;
  if (stat.group === group) return true;
  const environment = await readFile(`/proc/${pid}/environ`).catch(() => null);
  return environment?.includes(`${tagVariable}=${tag}\0`) ?? false;
}

/** Fields of /proc/<pid>/stat (proc(5)); null when there is no such process or no /proc. */
export async function processStat(
  pid: number,
): Promise<{ state: string; group: number; startTicks: string } | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  // The name in parentheses may hold anything, so fields are counted from the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', group: Number(fields[2]), startTicks: fields[19] ?? '' };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // ESRCH: it ended between the look and the signal, which is what was wanted. EPERM shows as a survivor.
    return;
  }
}
