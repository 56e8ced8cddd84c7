import type { Payload, Platform } from '../../../platforms/platform.ts';
import { GatewayError } from '../../errors.ts';
import type { OutboxRow } from '../../store/outbox.ts';
import type { Tables } from '../../store/store.ts';

/** A send that may have arrived without anybody having been told. */
export interface Doubt {
  /** It can only have arrived after this moment (ms). */
  since: number;
  /** Sends of this process whose outcome is not known. */
  tries: number;
}

export type Finding = { kind: 'found'; messageId: string } | { kind: 'absent' } | { kind: 'unknown' };

export interface LookUpContext {
  platform: Platform;
  read: Tables;
  signal: AbortSignal;
}

/** Enough to hold a message of the row's own chat on a busy bot. */
const olderLimit = 200;

/**
 * Looks for the message that a row became. Rejects when asking must wait (a limit, no network), for then nothing is
 * known yet.
 */
export async function lookFor(
  row: OutboxRow,
  payload: Payload,
  { since }: Doubt,
  { platform, read, signal }: LookUpContext,
): Promise<Finding> {
  const older = (await read.outbox.isClouded(row, since))
    ? []
    : [
        ...(await read.inbox.receivedBy(row.platform, since, olderLimit)),
        ...(await read.outbox.sentBy(row.platform, since, olderLimit)),
      ];
  try {
    const messageId = await platform.findDelivered(row.chat, payload, row.key, signal, older);
    return messageId === null ? { kind: 'absent' } : { kind: 'found', messageId };
  } catch (error) {
    const mustWait =
      error instanceof GatewayError &&
      (error.code === 'platform_rate_limited' || error.code === 'platform_unreachable');
    if (mustWait) throw error;
    return { kind: 'unknown' };
  }
}

/**
 * What an earlier process left first in a chat may have arrived, for the kill may have fallen between that and the
 * mark. Nothing else of the chat was on its way then: rows go one by one.
 */
export async function doubtFromBefore(row: OutboxRow, read: Tables): Promise<Doubt> {
  return { since: Math.max(row.createdAt, await read.outbox.lastSentAt(row.chatKey)), tries: 0 };
}
