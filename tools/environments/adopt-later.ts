import { sleep, systemClock } from '../../src/clock.ts';
import { errorMessage } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import { createBacklog } from './backlog.ts';
import type { BackgroundStart, Environment } from './environment.ts';
import { unknownExit } from './local-background.ts';
import { within } from './run-command.ts';

const firstPauseMs = 5_000;
const longestPauseMs = 60_000;
/** A kill that cannot reach the place must not hang its caller. */
const killMs = 20_000;

/**
 * A background process of an earlier gateway, before its environment could be reached. It counts as running until
 * the environment itself says otherwise: one that is away for an hour may still hold a running process.
 */
export function adoptLater(
  open: () => Promise<Environment>,
  { pid, startedAt, log, signal }: { pid: number; startedAt: string; log: Log; signal: AbortSignal },
): BackgroundStart {
  const backlog = createBacklog();
  const adopted = adopt();

  async function adopt(): Promise<BackgroundStart | null> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        return await (await open()).adopt(pid, startedAt);
      } catch (error) {
        log.warn(
          { pid, error: errorMessage(error) },
          'A background process cannot be looked at; tried again.',
        );
        // A gateway that stops leaves it to the next one: nothing is told any more.
        await sleep(systemClock, pauseMs, signal).catch(() => new Promise(() => undefined));
      }
    }
  }

  return {
    pid,
    startedAt,
    exited: adopted.then((found) => {
      found?.onOutput(backlog.push);
      return found?.exited ?? unknownExit;
    }),
    onOutput: backlog.listen,
    write: async () => false,
    closeInput: async () => undefined,
    resize: () => undefined,
    kill: () =>
      within(
        killMs,
        adopted.then((found) => found?.kill() ?? []),
        [pid],
      ),
  };
}
