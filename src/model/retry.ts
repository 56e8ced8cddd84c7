import { type Clock, sleep } from '../clock.ts';
import { GatewayError } from '../errors.ts';
import type { Log } from '../log.ts';
import { BrokenStream, cancelled } from './failures.ts';

export interface RetryOptions {
  /** How often a failed attempt is made again. */
  retries: number;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
  /** From 0 to 1; tests give their own. */
  random?: () => number;
}

/** Streams that broke before the answer is asked for in one piece. */
const streamRetries = 3;
const firstPauseMs = 1000;
const longestPauseMs = 30_000;
/** Nobody waits longer in a chat: the next provider is asked, or the person told. */
const longestRetryAfterMs = 60_000;

/**
 * Makes attempts until one succeeds, with growing, jittered pauses that honour Retry-After and end at once when
 * `signal` aborts. Broken streams have a count of their own; once it is spent, `attempt` is told not to stream.
 */
export async function withRetries<T>(
  options: RetryOptions,
  attempt: (stream: boolean) => Promise<T>,
): Promise<T> {
  let failures = 0;
  let breaks = 0;
  for (;;) {
    const stream = breaks <= streamRetries;
    try {
      return await attempt(stream);
    } catch (error) {
      if (options.signal.aborted) throw cancelled();
      if (!(error instanceof GatewayError) || !error.retryable) throw error;
      if (error instanceof BrokenStream && stream) breaks += 1;
      else failures += 1;
      if (failures > options.retries) throw error;
      const delayMs = pauseMs(error, failures + breaks, options.random ?? Math.random);
      if (delayMs === null) throw error;
      options.log.warn(
        { code: error.code, reason: error.message, delayMs, stream },
        'a model call failed; trying again',
      );
      await sleep(options.clock, delayMs, options.signal).catch(() => {
        throw cancelled();
      });
    }
  }
}

/** Null when the provider asks for more patience than a chat has. */
function pauseMs(error: GatewayError, failures: number, random: () => number): number | null {
  const jitter = 0.75 + random() * 0.5;
  if (error.retryAfterMs !== undefined) {
    return error.retryAfterMs > longestRetryAfterMs ? null : error.retryAfterMs + random() * 250;
  }
  return Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1)) * jitter;
}
