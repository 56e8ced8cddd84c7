import { sleep, systemClock } from '../../src/clock.ts';
import { createBacklog } from './backlog.ts';
import type { BackgroundStart, Environment } from './environment.ts';
import { unknownExit } from './local-background.ts';
import { createMarkerFilter } from './marker-filter.ts';
import { startRemoteBackground } from './remote-background.ts';
import { lookScript, mostLogBytes, parseLook, superviseScript } from './remote-job-scripts.ts';
import { killArgv, parseSurvivors } from './remote-kill.ts';
import { rawRun } from './shell-files.ts';
import type { Transport } from './transport.ts';

export interface RemoteJobsOptions {
  transport: Transport;
  /** The start of a job folder's path, in a place where others cannot be in the way of an unknown name. */
  folderPrefix: string;
  /** False where the place itself ends with the gateway. */
  outlive: boolean;
}

/** Background processes that go on without the gateway, and are taken up by the next one. */
export interface RemoteJobs {
  start(argv: readonly string[], how: { pty: boolean; mark: string }): Promise<BackgroundStart>;
  adopt: Environment['adopt'];
  /** How many run that the next gateway could take up. */
  running(): number;
  /** Nothing is told of them any more: they are left to the next gateway. */
  abandon(): void;
}

interface Job {
  tag: string;
  pid: number;
  folder: string;
}

const lookMs = 15_000;
const pauseMs = 2_000;
const longestPauseMs = 60_000;
/** After the exit a grandchild may still hold the output: this long a wait for more. */
const graceMs = 600;

export function createRemoteJobs({ transport, folderPrefix, outlive }: RemoteJobsOptions): RemoteJobs {
  const over = new AbortController();
  let running = 0;

  const jobOf = (pid: number, tag: string): Job => ({ tag, pid, folder: folderPrefix + tag });
  const run = (script: string, ...args: string[]) =>
    rawRun(transport, { argv: ['sh', '-c', script, 'sh', ...args] }, lookMs);

  async function kill({ tag }: Job): Promise<number[]> {
    const { stdout } = await rawRun(transport, { argv: killArgv(tag) }, lookMs);
    return parseSurvivors(stdout.toString('utf8'));
  }

  /** What stays in a place that cannot be reached is little, and the place's own cleaning takes it. */
  const tidy = ({ folder }: Job) => run('rm -rf -- "$1"', folder).then(noValue, noValue);

  /** Counts it while it runs; once the environment is closed, its end is the next gateway's to tell. */
  async function untilOver(exited: Promise<number>, job: Job): Promise<number> {
    running += 1;
    const code = await exited;
    if (over.signal.aborted) return new Promise(() => undefined);
    running -= 1;
    await tidy(job);
    return code;
  }

  async function look({ folder, tag, pid }: Job, known: number) {
    const { stdout } = await run(lookScript, folder, tag, String(pid), String(known));
    return parseLook(stdout);
  }

  /** Looks again and again, whatever becomes of the connection, until the job has ended. */
  async function follow(job: Job, known: number, onBytes: (chunk: Uint8Array) => void): Promise<number> {
    let at = known;
    let failures = 0;
    let ends = 0;
    for (;;) {
      const seen = over.signal.aborted ? null : await look(job, at).catch(noLook);
      if (over.signal.aborted) return unknownExit;
      failures = seen === null ? failures + 1 : 0;
      if (seen !== null && seen.output.length > 0) {
        onBytes(seen.output);
        at = seen.from + seen.output.length;
        if (seen.output.length >= mostLogBytes) continue;
      }
      const code = seen?.state === 'exited' ? seen.exitCode : unknownExit;
      if (seen !== null && seen.state !== 'running') ends += 1;
      if (seen?.isOver || ends > 1) return code ?? unknownExit;
      const ms = ends > 0 ? graceMs : Math.min(pauseMs * 2 ** failures, longestPauseMs);
      await sleep(systemClock, ms, over.signal).catch(noValue);
    }
  }

  return {
    async start(argv, { pty, mark }) {
      // What a terminal shows is nobody's log, and most of what runs on one ends with it.
      const supervised = ['sh', '-c', superviseScript, 'sh', folderPrefix, ...argv];
      const started = await startRemoteBackground(transport, pty ? argv : supervised, {
        pty,
        mark,
        resume: ({ pid, tag }, known, onBytes) => follow(jobOf(pid, tag), known, onBytes),
      });
      const [tag = ''] = (started.startedAt ?? '').split(':');
      const exited = untilOver(started.exited, jobOf(started.pid ?? 0, tag));
      return { ...started, startedAt: outlive ? started.startedAt : null, exited };
    },
    async adopt(pid, startedAt) {
      const [tag = '', mark = ''] = startedAt.split(':');
      const job = jobOf(pid, tag);
      const first = await look(job, 0);
      if (!outlive || mark === '' || first === null) return null;
      if (first.state === 'gone' && first.output.length === 0) return null;
      const backlog = createBacklog();
      const unmarked = createMarkerFilter(mark, backlog.pushBytes);
      const exited = follow(job, 0, unmarked.append).then((code) => {
        unmarked.end();
        return code;
      });
      return {
        pid,
        startedAt,
        exited: untilOver(exited, job),
        onOutput: backlog.listen,
        write: async () => false,
        closeInput: async () => undefined,
        resize: () => undefined,
        kill: () => kill(job),
      };
    },
    running: () => running,
    abandon: () => over.abort(),
  };
}

const noValue = () => undefined;
const noLook = () => null;
