import { randomUUID } from 'node:crypto';
import type { Payload, Platform } from '../../../platforms/platform.ts';
import { GatewayError } from '../../errors.ts';
import type { OutboxRow } from '../../store/outbox.ts';
import type { Tables } from '../../store/store.ts';

/** How long one API call may take before its outcome counts as unknown. */
const callTimeoutMs = 30_000;
/** An unknown outcome is tried this often in all where the platform has no idempotency key (docs/delivery.md). */
const unknownTries = 2;
const firstRetryMs = 1_000;
const longestRetryMs = 30_000;

export type AttemptOutcome =
  | { kind: 'sent'; messageId: string | null }
  | { kind: 'retry'; afterMs: number; error: string; blocksChat: boolean }
  /** `chatGone`: nothing else can be said there either. */
  | { kind: 'dead'; error: string; chatGone: boolean };

/**
 * Carries out one outbox row by one API call, and says what is to become of it. Never rejects. A row that an
 * earlier process left (`fromBefore`) may have arrived without its mark: it is looked for first.
 */
export async function attempt(
  row: OutboxRow,
  platform: Platform,
  read: Tables,
  stop: AbortSignal,
  fromBefore = false,
): Promise<AttemptOutcome> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(callTimeoutMs)]);
  try {
    if (fromBefore && row.op.kind === 'send' && !platform.capabilities.idempotentSend) {
      const found = await lookFor(row, row.op.payload, platform, signal);
      if (found !== null) return { kind: 'sent', messageId: found };
    }
    return await carryOut(row, platform, read, signal);
  } catch (error) {
    return judge(row, platform, error, signal);
  }
}

async function carryOut(
  row: OutboxRow,
  platform: Platform,
  read: Tables,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { op } = row;
  if (op.kind === 'send') {
    const { messageId } = await platform.deliver(row.chat, op.payload, {
      key: row.key,
      signal,
      ...(op.replyTo !== undefined && { replyTo: op.replyTo }),
      ...(op.silent !== undefined && { silent: op.silent }),
    });
    return { kind: 'sent', messageId };
  }
  const original = await read.outbox.get(op.of);
  const messageId = original?.messageId ?? null;
  if (op.kind === 'remove') {
    if (messageId !== null) await platform.remove(row.chat, messageId, signal);
    return { kind: 'sent', messageId };
  }
  if (messageId === null)
    return op.orSend ? sendInstead(row, platform, op.payload, signal) : { kind: 'sent', messageId };
  try {
    await platform.edit(row.chat, messageId, op.payload, signal);
    return { kind: 'sent', messageId };
  } catch (error) {
    const gone =
      error instanceof GatewayError && (error.code === 'platform_refused' || error.code === 'chat_gone');
    if (!gone || !op.orSend) throw error;
    return sendInstead(row, platform, op.payload, signal);
  }
}

/** The message to edit is not there: its text must arrive all the same. */
async function sendInstead(
  row: OutboxRow,
  platform: Platform,
  payload: Payload,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { messageId } = await platform.deliver(row.chat, payload, { key: row.key, signal });
  return { kind: 'sent', messageId };
}

async function judge(
  row: OutboxRow,
  platform: Platform,
  thrown: unknown,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const error = thrown instanceof GatewayError ? thrown : new GatewayError('send_unknown', String(thrown));
  const afterMs = error.retryAfterMs ?? Math.min(longestRetryMs, firstRetryMs * 2 ** row.attempts);
  switch (error.code) {
    case 'platform_rate_limited':
      return { kind: 'retry', afterMs, error: error.message, blocksChat: true };
    case 'platform_unreachable':
    case 'store_unavailable':
    case 'store_full':
      return { kind: 'retry', afterMs, error: error.message, blocksChat: false };
    case 'send_unknown':
    case 'cancelled':
      return judgeUnknown(row, platform, error, afterMs, signal);
    default:
      return { kind: 'dead', error: error.message, chatGone: error.code === 'chat_gone' };
  }
}

/**
 * The call left and nobody knows whether it arrived. An edit or a removal is repeated, since that changes nothing;
 * so is a send that the platform recognises by its key. Any other is looked for, and sent once more when not found.
 */
async function judgeUnknown(
  row: OutboxRow,
  platform: Platform,
  error: GatewayError,
  afterMs: number,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const again: AttemptOutcome = { kind: 'retry', afterMs, error: error.message, blocksChat: false };
  if (row.op.kind !== 'send' || platform.capabilities.idempotentSend) return again;
  const lookUp = signal.aborted ? AbortSignal.timeout(callTimeoutMs) : signal;
  const found = await lookFor(row, row.op.payload, platform, lookUp);
  if (found !== null) return { kind: 'sent', messageId: found };
  return row.attempts + 1 < unknownTries
    ? again
    : { kind: 'dead', error: `${error.message} (tried ${unknownTries} times)`, chatGone: false };
}

/** The message that a row became, or null when it is not found; a look-up that fails found nothing. */
function lookFor(
  row: OutboxRow,
  payload: Payload,
  platform: Platform,
  signal: AbortSignal,
): Promise<string | null> {
  return platform.findDelivered(row.chat, payload, row.key, signal).catch(() => null);
}

/** A key for one outbox row: what the platform recognises a repeated send by. */
export function outboxKey(): string {
  return randomUUID().replaceAll('-', '').slice(0, 25);
}
