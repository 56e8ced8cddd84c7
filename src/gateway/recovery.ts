import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { messagesFor } from '../messages/messages.ts';
import type { InboxRow } from '../store/inbox.ts';
import type { SessionRow } from '../store/sessions.ts';
import type { Store, Transaction } from '../store/store.ts';
import type { Outbound } from './outbound/outbound.ts';
import type { Replies } from './replies.ts';
import { type ResetPolicy, type ResetReason, resetReason } from './reset-policy.ts';
import { tellRestarted } from './restart.ts';
import type { Timers } from './timers.ts';
import { blameAfterDeath } from './turn/blame.ts';
import { resetSession } from './turn/intake.ts';
import type { Lanes } from './turn/lanes.ts';
import { prune } from './upkeep.ts';

export interface RecoveryOptions {
  store: Store;
  clock: Clock;
  log: Log;
  lanes: Lanes;
  outbound: Outbound;
  timers: Timers;
  replies: Replies;
  resetPolicy(session: SessionRow): ResetPolicy;
  runCommand(row: InboxRow): void;
  /** True when this process alone owns the store, so that leases of the dead are void. */
  alone: boolean;
}

/**
 * Takes up what an earlier process left: its leases are ended, turns are resumed after the reset policy, timers
 * armed, the outbox drained. Returns how much there was.
 */
export async function recover(options: RecoveryOptions): Promise<{ resumed: number; waiting: number }> {
  const { store, clock, lanes, outbound, timers, replies } = options;
  const now = clock.now();
  const open = await store.read.sessions.open();
  const pending = await store.read.approvals.allPending();
  // A session that was worked on when the process died may be why it died. A clean stop leaves no lease.
  const died = options.alone ? await store.read.sessions.leased() : [];
  const askedNow = new Set(pending.filter((row) => row.expiresAt > now).map((row) => row.sessionKey));
  const overdue = open.flatMap((session) => {
    const reason = resetReason(options.resetPolicy(session), session.updatedAt, now);
    return reason && !askedNow.has(session.key) ? [{ session, reason }] : [];
  });
  // First of all, since rows that are added from here on reach it by themselves.
  await outbound.start();
  await store.transaction(async (tables) => {
    if (options.alone) await tables.sessions.releaseAll();
    for (const session of died) {
      await tables.sessions.update(session.key, { blame: await blameAfterDeath(session, tables) });
    }
    for (const { session, reason } of overdue) await endOverdue(tables, session, reason, options);
    await tellRestarted(tables, replies);
    await prune(tables, now);
  });
  await timers.start();
  // What only waits for a person has nothing to do until the person decides.
  const waitsForPerson = new Set((await store.read.approvals.allPending()).map((row) => row.sessionKey));
  const running = open.filter((session) => session.turn === 'running');
  for (const session of [...running, ...open]) {
    if (session.turn === 'running' || !waitsForPerson.has(session.key)) lanes.wake(session.key);
  }
  const withWork = await store.read.inbox.sessionsWithWork();
  for (const key of withWork) lanes.wake(key);
  for (const row of await store.read.inbox.waitingCommands()) options.runCommand(row);
  return { resumed: running.length, waiting: withWork.length };
}

/** A turn that the reset policy would have ended is not raised from the dead; its chat is told. */
async function endOverdue(
  tables: Transaction,
  session: SessionRow,
  reason: ResetReason,
  { replies, log, clock }: RecoveryOptions,
): Promise<void> {
  const errorId = randomBytes(3).toString('hex');
  log.warn({ errorId, session: session.key, reason }, 'an old interrupted turn was not resumed');
  await tables.inbox.settle(session.key, 'dead');
  await resetSession(tables, session.key, reason, clock.now());
  await replies.add(tables, session, messagesFor(session.locale).turn.gaveUp(errorId));
}
