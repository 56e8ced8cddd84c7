import type { Api } from 'grammy';
import { type Clock, sleep } from '../../src/clock.ts';
import type { GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { PlatformSink } from '../platform.ts';
import { mapError, scrub } from './errors.ts';
import { own } from './grammy-types.ts';
import type { Intake } from './intake.ts';
import type { TelegramSettings } from './options.ts';

/** A poll that the server holds longer than it was asked to is dead. */
const overdueMs = 10_000;
const firstRetryMs = 500;
const longestRetryMs = 60_000;
const mostConflicts = 5;

export const allowedUpdates = ['message', 'edited_message', 'callback_query'] as const;

export interface PollerOptions {
  api: Api;
  intake: Intake;
  sink: PlatformSink;
  settings: TelegramSettings;
  account: string;
  clock: Clock;
  log: Log;
}

/**
 * Long polling that confirms an update only after it is stored: the next poll's offset is what tells Telegram. (The
 * runner of grammY confirms when it hands updates out, which a crash would lose.)
 */
export async function poll(options: PollerOptions, stop: AbortSignal): Promise<void> {
  const { api, intake, sink, settings, clock, log } = options;
  let offset = 0;
  let failures = 0;
  let conflicts = 0;
  while (!stop.aborted) {
    try {
      const limit = AbortSignal.timeout(settings.pollSeconds * 1000 + overdueMs);
      const updates = await api.getUpdates(
        { offset, limit: 100, timeout: settings.pollSeconds, allowed_updates: [...allowedUpdates] },
        own(AbortSignal.any([stop, limit])),
      );
      sink.alive();
      if (failures > 0) sink.report({ state: 'connected', account: options.account });
      failures = 0;
      conflicts = 0;
      const stored = await intake.take(updates);
      const last = updates[stored - 1];
      if (last) offset = last.update_id + 1;
      if (stored < updates.length) await sleep(clock, 1_000, stop);
    } catch (error) {
      if (stop.aborted) return;
      failures += 1;
      const mapped = mapError(error, settings.token);
      if (mapped.code === 'token_in_use') conflicts += 1;
      if (mapped.code === 'token_invalid' || conflicts > mostConflicts) return reportFatal(sink, mapped);
      const waitMs =
        mapped.retryAfterMs ?? Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 7));
      log.warn({ error: scrub(mapped.message, settings.token), waitMs }, 'polling failed');
      // One dropped connection is nothing to report; a second one is.
      if (failures > 1) sink.report({ state: 'retrying', reason: mapped.message });
      await sleep(clock, waitMs, stop).catch(() => undefined);
    }
  }
}

function reportFatal(sink: PlatformSink, error: GatewayError): void {
  sink.report({
    state: 'fatal',
    code: error.code,
    reason: error.message,
    ...(error.mend && { mend: error.mend }),
  });
}
