import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Processor time that a process has used so far (ms), its threads included. Linux: proc(5), stat. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name before the last bracket may hold spaces; user and system time are the 14th and 15th fields of all.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond();
}

/** Memory that a process holds now (MB). */
export function rssMb(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1_024;
}

/** Looks every `everyMs` until stopped; `stop` returns the largest seen (MB). */
export function watchRss(pid: number, everyMs = 100): { stop(): number } {
  let largest = rssMb(pid);
  const timer = setInterval(() => {
    largest = Math.max(largest, rssMb(pid));
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      return Math.max(largest, rssMb(pid));
    },
  };
}

let ticks: number | null = null;

function ticksPerSecond(): number {
  ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return ticks;
}
