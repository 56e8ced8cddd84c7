import type { Update } from 'grammy/types';
import { type Clock, sleep } from '../../src/clock.ts';
import type { GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { PlatformSink } from '../platform.ts';
import type { TelegramClient } from './client.ts';
import { toGatewayError } from './errors.ts';
import type { TelegramSettings } from './options.ts';
import { allowedUpdates, type UpdateHandler } from './updates.ts';

export interface PollerOptions {
  client: TelegramClient;
  settings: TelegramSettings;
  handle: UpdateHandler;
  sink: PlatformSink;
  account: string;
  clock: Clock;
  log: Log;
}

export interface Poller {
  /** One call that does not wait: proves that updates flow, and stores those that are there. */
  first(signal: AbortSignal): Promise<void>;
  /** Polls until `signal` aborts or the token turns out to be of no use. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Two pollers of one token take turns: each new call ends the other's with a 409, so a success in between proves
 * nothing. A deploy overlaps once or twice; more conflicts, each soon after the last, mean that another program stays.
 */
const conflictTries = 5;
const conflictMemory = 5;
const batch = 100;

/**
 * Long polling. The offset moves on only when every update before it is stored, so Telegram hands out again what a
 * crash interrupted (docs/decisions/004-telegram-transport.md).
 */
export function createPoller({ client, settings, handle, sink, account, clock, log }: PollerOptions): Poller {
  let offset = 0;
  let mayDrop = settings.dropStaleUpdates;

  async function poll(timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    const deadline = AbortSignal.timeout(timeoutSeconds * 1_000 + settings.pollGraceMs);
    const updates = await client.api.getUpdates(
      { offset, limit: batch, timeout: timeoutSeconds, allowed_updates: allowedUpdates },
      AbortSignal.any([signal, deadline]),
    );
    sink.alive();
    await store(updates);
  }

  /** Confirms up to the first update that could not be stored. */
  async function store(updates: readonly Update[]): Promise<void> {
    const outcomes = await Promise.allSettled(updates.map(handle));
    const ids = updates.map(({ update_id: id }) => id);
    const failed = outcomes.findIndex(({ status }) => status === 'rejected');
    const failure = outcomes[failed];
    if (failure?.status !== 'rejected') {
      offset = Math.max(offset, ...ids.map((id) => id + 1));
      return;
    }
    const unstored = ids.filter((_id, index) => outcomes[index]?.status === 'rejected');
    offset = Math.max(offset, Math.min(...unstored));
    throw failure.reason;
  }

  async function recover(failures: number, error: GatewayError, signal: AbortSignal): Promise<void> {
    const { firstMs, longestMs } =
      error.code === 'token_in_use' ? settings.conflictBackoff : settings.backoff;
    const waitMs = error.retryAfterMs ?? jittered(Math.min(longestMs, firstMs * 2 ** (failures - 1)));
    sink.report({ state: 'retrying', reason: error.message });
    log.warn({ failures, waitMs, why: error.message }, 'telegram: no updates, trying again');
    await sleep(clock, waitMs, signal);
  }

  /** Confirms, unread, what came before now. Bot API: getUpdates, a negative offset. */
  async function dropStale(signal: AbortSignal): Promise<void> {
    const [newest] = await client.api.getUpdates({ offset: -1, limit: 1, timeout: 0 }, signal);
    if (newest !== undefined) offset = newest.update_id + 1;
    mayDrop = false;
  }

  /** Sets a forgotten webhook aside: while it is set, nobody may poll. */
  async function first(signal: AbortSignal): Promise<void> {
    try {
      if (mayDrop) await dropStale(signal);
      await poll(0, signal);
    } catch (error) {
      if (!isWebhookConflict(error)) throw error;
      log.warn('telegram: a webhook was set for this bot; removing it in order to poll');
      await client.api.deleteWebhook({ drop_pending_updates: mayDrop }, signal);
      await poll(0, signal);
    }
  }

  return {
    first,
    async run(signal) {
      let failures = 0;
      let conflicts = 0;
      let lastConflictAt = 0;
      let isDown = false;
      while (!signal.aborted) {
        try {
          // After a failure, a call that returns at once tells sooner whether the way is open.
          await (failures === 0 ? poll(settings.pollTimeoutSeconds, signal) : first(signal));
          if (isDown) sink.report({ state: 'connected', account });
          isDown = false;
          failures = 0;
        } catch (thrown) {
          if (signal.aborted) return;
          const error = toGatewayError(thrown, 'getUpdates');
          failures += 1;
          if (error.code === 'token_in_use') {
            const isRecent =
              clock.now() - lastConflictAt < conflictMemory * settings.conflictBackoff.longestMs;
            conflicts = isRecent ? conflicts + 1 : 1;
            lastConflictAt = clock.now();
          }
          if (error.code === 'token_invalid' || conflicts > conflictTries) return sink.report(fatal(error));
          // A kept connection that the other side closed is no outage: ask again at once, and say nothing.
          if (failures === 1 && error.code === 'send_unknown') continue;
          isDown = true;
          await recover(failures, error, signal).catch(() => undefined);
        }
      }
    },
  };
}

/** A quarter shorter at most: bots that an outage stopped together must not come back together. */
function jittered(waitMs: number): number {
  return Math.round(waitMs * (0.75 + Math.random() / 4));
}

function isWebhookConflict(error: unknown): boolean {
  return toGatewayError(error, 'getUpdates').code === 'token_in_use' && /webhook/i.test(String(error));
}

function fatal(error: GatewayError) {
  const { code, message: reason, mend } = error;
  return { state: 'fatal', code, reason, ...(mend !== undefined && { mend }) } as const;
}
