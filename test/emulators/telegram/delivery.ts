import type { ServerResponse } from 'node:http';
import { answerJson } from '../emulator.ts';
import { ApiRefusal, type Fields } from './wire.ts';

export interface QueuedUpdate {
  update_id: number;
  [kind: string]: unknown;
}

export interface Delivery {
  push(update: Record<string, unknown>): QueuedUpdate;
  /** Answers a getUpdates call, at once or when something comes. */
  poll(fields: Fields, response: ServerResponse): void;
  setWebhook(webhook: { url: string; secret: string } | null): void;
  /** Hands out the newest `count` confirmed updates again, as after a lost confirmation. */
  redeliver(count: number): void;
  /** The next batch comes in reverse. */
  reorder(): void;
  /** Updates that were not confirmed. */
  pending(): readonly QueuedUpdate[];
  close(): void;
}

interface Waiter {
  response: ServerResponse;
  limit: number;
  timer: NodeJS.Timeout;
}

const keptConfirmed = 1_000;
const webhookRetryMs = 100;

/** Updates by long polling, one poller at a time, or by webhook; each is kept until it is confirmed. */
export function createDelivery(
  onConfirmed: () => void,
  onHandedOut: (updates: readonly QueuedUpdate[]) => void = () => undefined,
): Delivery {
  let queue: QueuedUpdate[] = [];
  const confirmed: QueuedUpdate[] = [];
  let waiter: Waiter | null = null;
  let webhook: { url: string; secret: string } | null = null;
  let posting = false;
  let reversed = false;
  let closed = false;
  let nextId = 700_000_001;

  function endWait(status: number, body: unknown): void {
    if (waiter === null) return;
    clearTimeout(waiter.timer);
    answerJson(waiter.response, status, body);
    waiter = null;
  }

  function batch(limit: number): QueuedUpdate[] {
    const updates = queue.slice(0, limit);
    if (reversed && updates.length > 1) {
      reversed = false;
      updates.reverse();
    }
    onHandedOut(updates);
    return updates;
  }

  function confirm(offset: number): void {
    const from = offset < 0 ? queue.at(offset)?.update_id : offset;
    if (from === undefined || offset === 0) return;
    for (const update of queue) if (update.update_id < from) confirmed.push(update);
    queue = queue.filter(({ update_id: id }) => id >= from);
    confirmed.splice(0, Math.max(0, confirmed.length - keptConfirmed));
    onConfirmed();
  }

  async function post(): Promise<void> {
    if (posting) return;
    posting = true;
    for (let update = queue[0]; update !== undefined && webhook !== null && !closed; update = queue[0]) {
      const headers = {
        'content-type': 'application/json',
        'x-telegram-bot-api-secret-token': webhook.secret,
      };
      onHandedOut([update]);
      const answer = await fetch(webhook.url, {
        method: 'POST',
        headers,
        body: JSON.stringify(update),
      }).catch(() => null);
      if (answer?.ok) confirm(update.update_id + 1);
      else await new Promise((resolve) => setTimeout(resolve, webhookRetryMs));
    }
    posting = false;
  }

  function deliver(): void {
    if (webhook !== null) void post();
    else if (waiter !== null && queue.length > 0) endWait(200, { ok: true, result: batch(waiter.limit) });
  }

  return {
    push(update) {
      const queued = { update_id: nextId++, ...update };
      queue.push(queued);
      deliver();
      return queued;
    },
    poll(fields, response) {
      if (webhook !== null)
        throw new ApiRefusal(409, "Conflict: can't use getUpdates method while webhook is active");
      endWait(409, {
        ok: false,
        error_code: 409,
        description:
          'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
      });
      confirm(Number(fields['offset'] ?? 0));
      const limit = Number(fields['limit'] ?? 100);
      const waitMs = Number(fields['timeout'] ?? 0) * 1_000;
      if (queue.length > 0 || waitMs === 0)
        return answerJson(response, 200, { ok: true, result: batch(limit) });
      const timer = setTimeout(() => endWait(200, { ok: true, result: [] }), waitMs);
      const mine = { response, limit, timer };
      waiter = mine;
      response.once('close', () => {
        if (waiter !== mine) return;
        clearTimeout(timer);
        waiter = null;
      });
    },
    setWebhook(next) {
      webhook = next;
      deliver();
    },
    redeliver(count) {
      queue.unshift(...confirmed.splice(-count));
      deliver();
    },
    reorder() {
      reversed = true;
    },
    pending: () => queue,
    close() {
      closed = true;
      if (waiter !== null) clearTimeout(waiter.timer);
    },
  };
}
