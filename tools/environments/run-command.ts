import { createBoundedOutput } from './bounded-output.ts';
import { createMarkerFilter } from './marker-filter.ts';
import type { RunningCommand, StreamName } from './transport.ts';

export interface RunLimits {
  timeoutMs: number;
  signal: AbortSignal;
  onActivity?: () => void;
  maxBytes?: number;
}

export interface FinishedRun {
  /** What stood between two marks on stdout; null when nothing did. */
  marker: string | null;
  exitCode: number;
  outcome: 'exited' | 'timed_out' | 'interrupted';
  stdout: string;
  stderr: string;
  output: string;
  omittedBytes: number;
  /** Pids that outlived KILL; null when the place did not answer in time, so that nobody knows. */
  survivors: readonly number[] | null;
}

const defaultMaxBytes = 200_000;
const activityMs = 10_000;
/** After the exit, output may still be on its way, or a grandchild may hold the pipe for ever. */
const idleMs = 300;
const drainMs = 1_000;
/** A kill that hangs, as with a dead connection, must not hang the call. */
const killLimitMs = 2_000;

const exitCodeOf = { timed_out: 124, interrupted: 130 } as const;

/**
 * Follows a command to its end, its timeout or its interruption, keeping a bounded part of its output. A `mark` is
 * taken out of stdout with what it encloses.
 */
export async function followCommand(
  running: RunningCommand,
  limits: RunLimits,
  mark = '',
): Promise<FinishedRun> {
  const collected = collect(running, limits.maxBytes ?? defaultMaxBytes, mark);
  const activity = setInterval(() => limits.onActivity?.(), activityMs);
  try {
    const first = await firstOf(running.exited, limits);
    const isOver = first.outcome === 'exited';
    const survivors = isOver ? [] : await within<number[] | null>(killLimitMs, running.kill(), null);
    await drained(running, collected.lastArrival);
    return { ...first, ...collected.result(), survivors };
  } finally {
    clearInterval(activity);
    running.release();
  }
}

type First = { outcome: FinishedRun['outcome']; exitCode: number };

function firstOf(exited: Promise<number>, { timeoutMs, signal }: RunLimits): Promise<First> {
  return new Promise((resolve, reject) => {
    const stop = (outcome: 'timed_out' | 'interrupted') => settle({ outcome, exitCode: exitCodeOf[outcome] });
    const onAbort = () => stop('interrupted');
    const timer = setTimeout(() => stop('timed_out'), timeoutMs);
    function settle(first: First): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(first);
    }
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    exited.then(
      (exitCode) => settle({ outcome: 'exited', exitCode }),
      (error) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        reject(error);
      },
    );
  });
}

function collect(running: RunningCommand, maxBytes: number, mark: string) {
  const kept = {
    stdout: createBoundedOutput(maxBytes),
    stderr: createBoundedOutput(maxBytes),
    output: createBoundedOutput(maxBytes),
  };
  let arrivedAt = performance.now();
  const keep = (stream: StreamName) => (chunk: Uint8Array) => {
    kept[stream].append(chunk);
    kept.output.append(chunk);
  };
  const marked = mark === '' ? null : createMarkerFilter(mark, keep('stdout'));
  const onChunk = { stdout: marked?.append ?? keep('stdout'), stderr: keep('stderr') };
  running.onData((stream, chunk) => {
    arrivedAt = performance.now();
    onChunk[stream](chunk);
  });
  return {
    lastArrival: () => arrivedAt,
    result: () => ({
      marker: marked?.end() ?? null,
      stdout: kept.stdout.text(),
      stderr: kept.stderr.text(),
      output: kept.output.text(),
      omittedBytes: kept.output.omittedBytes(),
    }),
  };
}

/** Waits for the end of the output, but neither for a silent holder of the pipe nor for one that never stops. */
async function drained(running: RunningCommand, lastArrival: () => number): Promise<void> {
  const from = performance.now();
  let over = false;
  const ended = running.ended.then(() => {
    over = true;
  });
  while (!over) {
    const now = performance.now();
    const waitMs = Math.min(Math.max(lastArrival(), from) + idleMs, from + drainMs) - now;
    if (waitMs <= 0) return;
    await within(waitMs, ended, undefined);
  }
}

/** The promise's value, or `fallback` after `limitMs`. A late rejection is the fallback too. */
export function within<T>(limitMs: number, promise: Promise<T>, fallback: T): Promise<T> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(fallback), limitMs);
    promise
      .catch(() => fallback)
      .then((value) => {
        clearTimeout(timer);
        resolve(value);
      });
  });
}
