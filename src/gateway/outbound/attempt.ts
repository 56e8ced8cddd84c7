import { randomUUID } from 'node:crypto';
import type { DeliverOptions, Payload, Platform } from '../../../platforms/platform.ts';
import type { Clock } from '../../clock.ts';
import { GatewayError } from '../../errors.ts';
import type { OutboxRow } from '../../store/outbox.ts';
import type { Tables } from '../../store/store.ts';
import { type Doubt, type Finding, lookFor } from './look-up.ts';

/** How long one API call may take before its outcome counts as unknown. */
const callTimeoutMs = 30_000;
/**
 * How often a send of unknown outcome is made in all where the platform has no idempotency key (docs/delivery.md):
 * when it cannot be told whether it arrived, and when it was looked for and is not there.
 */
const maxTries = { unknown: 2, absent: 6 } as const;
const firstRetryMs = 1_000;
const longestRetryMs = 30_000;
/** Discord remembers a nonce for "the past few minutes" (its documentation of `enforce_nonce`). */
const keyMemoryMs = 60_000;

export type AttemptOutcome =
  | { kind: 'sent'; messageId: string | null }
  /** `doubt`: an earlier call may have arrived all the same. */
  | { kind: 'retry'; afterMs: number; error: string; blocksChat: boolean; doubt: Doubt | null }
  /** `chatGone`: nothing else can be said there either. */
  | { kind: 'dead'; error: string; chatGone: boolean };

export interface AttemptContext {
  platform: Platform;
  read: Tables;
  clock: Clock;
  stop: AbortSignal;
}

/**
 * Carries out one outbox row by one API call, and says what is to become of it. Never rejects. What may have arrived
 * already, unmarked, is looked for first.
 */
export async function attempt(
  row: OutboxRow,
  doubt: Doubt | null,
  context: AttemptContext,
): Promise<AttemptOutcome> {
  const signal = AbortSignal.any([context.stop, AbortSignal.timeout(callTimeoutMs)]);
  const call: Call = {
    ...context,
    row,
    signal,
    doubt,
    tries: doubt?.tries ?? 0,
    startedAt: context.clock.now(),
  };
  try {
    return { kind: 'sent', messageId: await carryOut(call) };
  } catch (error) {
    return judge(call, error);
  }
}

interface Call extends AttemptContext {
  readonly row: OutboxRow;
  readonly signal: AbortSignal;
  readonly startedAt: number;
  /** Cleared once the look-up has settled it. */
  doubt: Doubt | null;
  /** Earlier sends of unknown outcome. */
  tries: number;
}

/** Resolves with the id of the message that was sent or changed. */
async function carryOut(call: Call): Promise<string | null> {
  const { row, platform, signal } = call;
  const { op } = row;
  if (op.kind === 'send') return send(call, op.payload, op);
  const messageId = (await call.read.outbox.get(op.of))?.messageId ?? null;
  if (op.kind === 'remove') {
    if (messageId !== null) await platform.remove(row.chat, messageId, signal);
    return messageId;
  }
  // The message to edit is not there: its text must arrive all the same.
  if (messageId === null) return op.orSend ? send(call, op.payload) : null;
  try {
    await platform.edit(row.chat, messageId, op.payload, signal);
    return messageId;
  } catch (error) {
    const gone =
      error instanceof GatewayError && (error.code === 'platform_refused' || error.code === 'chat_gone');
    if (!gone || !op.orSend) throw error;
    return send(call, op.payload);
  }
}

async function send(
  call: Call,
  payload: Payload,
  how: Pick<DeliverOptions, 'replyTo' | 'private' | 'silent'> = {},
): Promise<string> {
  const { row, platform, signal, doubt } = call;
  if (doubt !== null && !isRecognised(call, doubt)) {
    const finding = await lookFor(row, payload, doubt, call);
    if (finding.kind === 'found') return finding.messageId;
    call.doubt = null;
  }
  const { replyTo, private: isPrivate, silent } = how;
  const { messageId } = await platform.deliver(row.chat, payload, {
    key: row.key,
    signal,
    ...(replyTo !== undefined && { replyTo }),
    ...(isPrivate !== undefined && { private: isPrivate }),
    ...(silent !== undefined && { silent }),
  });
  return messageId;
}

/** Whether the platform knows a repetition by its key. */
function isRecognised({ platform, clock }: Call, doubt: Doubt): boolean {
  return platform.capabilities.idempotentSend && clock.now() - doubt.since < keyMemoryMs;
}

async function judge(call: Call, thrown: unknown): Promise<AttemptOutcome> {
  const { row, doubt } = call;
  const error = thrown instanceof GatewayError ? thrown : new GatewayError('send_unknown', String(thrown));
  const afterMs = error.retryAfterMs ?? Math.min(longestRetryMs, firstRetryMs * 2 ** row.attempts);
  const retry = { kind: 'retry', afterMs, error: error.message } as const;
  switch (error.code) {
    case 'platform_rate_limited':
      return { ...retry, blocksChat: true, doubt };
    case 'platform_unreachable':
    case 'store_unavailable':
    case 'store_full':
      return { ...retry, blocksChat: false, doubt };
    case 'send_unknown':
    case 'cancelled':
      return judgeUnknown(call, error, afterMs);
    default:
      return { kind: 'dead', error: error.message, chatGone: error.code === 'chat_gone' };
  }
}

/**
 * The call left and nobody knows whether it arrived. An edit or a removal is repeated, since that changes nothing;
 * so is a send that the platform recognises by its key. Any other is looked for, and sent once more when not found.
 */
async function judgeUnknown(call: Call, error: GatewayError, afterMs: number): Promise<AttemptOutcome> {
  const { row, platform, signal } = call;
  const tries = call.tries + 1;
  const doubt = { since: call.doubt?.since ?? call.startedAt, tries };
  const again: AttemptOutcome = { kind: 'retry', afterMs, error: error.message, blocksChat: false, doubt };
  if (row.op.kind !== 'send' || platform.capabilities.idempotentSend) return again;
  const lookUp = signal.aborted ? AbortSignal.timeout(callTimeoutMs) : signal;
  const nothing: Finding = { kind: 'unknown' };
  const finding = await lookFor(row, row.op.payload, doubt, { ...call, signal: lookUp }).catch(() => nothing);
  if (finding.kind === 'found') return { kind: 'sent', messageId: finding.messageId };
  return tries < maxTries[finding.kind]
    ? again
    : { kind: 'dead', error: `${error.message} (tried ${tries} times)`, chatGone: false };
}

/** A key for one outbox row: what the platform recognises a repeated send by. */
export function outboxKey(): string {
  return randomUUID().replaceAll('-', '').slice(0, 25);
}
