import type { Payload, Platform } from '../../../platforms/platform.ts';
import { GatewayError } from '../../errors.ts';
import type { OutboxRow } from '../../store/outbox.ts';
import type { Tables } from '../../store/store.ts';

/** A send that may have arrived without anybody having been told. */
export interface Doubt {
  /** It can only have arrived after this moment (ms). */
  since: number;
}

export interface LookUpContext {
  platform: Platform;
  read: Tables;
  signal: AbortSignal;
}

/** Enough to hold a message of the row's own chat on a busy bot. */
const olderLimit = 200;

/**
 * The message that a row became, or null when it is not found. Rejects when asking must wait (a limit, no network),
 * for then nothing is known yet; a look-up that fails otherwise found nothing.
 */
export async function lookFor(
  row: OutboxRow,
  payload: Payload,
  { since }: Doubt,
  { platform, read, signal }: LookUpContext,
): Promise<string | null> {
  const older = (await read.outbox.isClouded(row, since))
    ? []
    : [
        ...(await read.inbox.receivedBy(row.platform, since, olderLimit)),
        ...(await read.outbox.sentBy(row.platform, since, olderLimit)),
      ];
  try {
    return await platform.findDelivered(row.chat, payload, row.key, signal, older);
  } catch (error) {
    const mustWait =
      error instanceof GatewayError &&
      (error.code === 'platform_rate_limited' || error.code === 'platform_unreachable');
    if (mustWait) throw error;
    return null;
  }
}

/**
 * What an earlier process left first in a chat may have arrived, for the kill may have fallen between that and the
 * mark. Nothing else of the chat was on its way then: rows go one by one.
 */
export async function doubtFromBefore(row: OutboxRow, read: Tables): Promise<Doubt> {
  return { since: Math.max(row.createdAt, await read.outbox.lastSentAt(row.chatKey)) };
}
