import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { messagesFor } from '../messages/messages.ts';
import type { InboxRow } from '../store/inbox.ts';
import type { SessionRow } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import type { Outbound } from './outbound/outbound.ts';
import type { Replies } from './replies.ts';
import { type ResetPolicy, resetReason } from './reset-policy.ts';
import type { Timers } from './timers.ts';
import type { Lanes } from './turn/lanes.ts';

/** Inbox, outbox and journal rows are kept this long, for dedupe and for looking things up. */
const keptMs = 7 * 24 * 3_600_000;

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
  const { store, clock, lanes, outbound, timers } = options;
  const open = await store.read.sessions.open();
  const running = open.filter((session) => session.turn === 'running');
  await store.transaction(async (tables) => {
    if (options.alone) await tables.sessions.releaseAll();
    for (const session of running)
      await tables.sessions.update(session.key, { resumes: session.resumes + 1 });
    await prune(tables, clock.now() - keptMs);
  });
  await outbound.start();
  await timers.start();
  for (const session of open) {
    const overdue = resetReason(options.resetPolicy(session), session.updatedAt, clock.now());
    if (overdue && session.turn === 'running') await endOverdue(options, session);
    lanes.wake(session.key);
  }
  const withWork = await store.read.inbox.sessionsWithWork();
  for (const key of withWork) lanes.wake(key);
  for (const row of await store.read.inbox.waitingCommands()) options.runCommand(row);
  return { resumed: running.length, waiting: withWork.length };
}

/** A turn that the reset policy would have ended is not raised from the dead; its chat is told. */
async function endOverdue({ store, replies, log }: RecoveryOptions, session: SessionRow): Promise<void> {
  log.warn({ session: session.key }, 'an old interrupted turn was not resumed');
  const { turn } = messagesFor(session.locale);
  await store.transaction(async (tables) => {
    await tables.inbox.settle(session.key, 'dead');
    await tables.sessions.update(session.key, { turn: 'idle', resumes: 0 });
    await replies.add(tables, session, turn.gaveUp('restart'));
  });
}

async function prune(
  tables: Pick<Store['read'], 'inbox' | 'outbox' | 'toolRuns' | 'approvals'>,
  before: number,
): Promise<void> {
  await tables.inbox.prune(before);
  await tables.outbox.prune(before);
  await tables.toolRuns.prune(before);
  await tables.approvals.prune(before);
}
