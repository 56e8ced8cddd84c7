import { randomUUID } from 'node:crypto';
import { nextStep } from '../../agent/next-step.ts';
import type { TurnOutcome } from '../../agent/turn.ts';
import type { Clock } from '../../clock.ts';
import { errorMessage, GatewayError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { TurnQueue } from '../../queue/turn-queue.ts';
import type { SessionRow } from '../../store/sessions.ts';
import type { Store } from '../../store/store.ts';
import { isGuilty, isSuspect } from './blame.ts';
import type { Intake } from './intake.ts';
import { proveLease } from './lease.ts';
import { createRetries } from './retries.ts';
import { runOrAbandon, watchActivity } from './watchdog.ts';

const leaseMs = 60_000;
const renewMs = 20_000;

/** Why a running turn is made to end. */
export type InterruptReason = 'superseded' | 'stopped' | 'shutdown' | 'stalled' | 'lost';

/** What one turn looks like from here; made anew each time the session is worked on. */
export interface TurnRun {
  /** Runs until rest, parking or abort. Failures of the model have become an answer to the user by then. */
  run(signal: AbortSignal): Promise<TurnOutcome>;
  /** Answers every open call and ends the turn: it was stopped, or a new message takes its place. */
  close(reason: 'superseded' | 'stopped'): Promise<void>;
  /** Gives the turn up with an apology. */
  giveUp(why: 'deaths' | 'stalled'): Promise<void>;
  /** The moment of the last sign of life (ms). */
  lastActivity(): number;
  dispose(): void;
}

export interface LanesOptions {
  store: Store;
  queue: TurnQueue;
  clock: Clock;
  log: Log;
  intake: Intake;
  openTurn(session: SessionRow, fence: number): Promise<TurnRun>;
  /** Withdraws what a session still waits for a person to decide. */
  withdrawRequests(sessionKey: string): Promise<unknown>;
  /** A turn without any sign of life for so long is ended; 0 never. */
  inactivityMs(): number;
}

export interface RunningTurn {
  interrupt(reason: InterruptReason): void;
}

/** Works on sessions, one turn at a time each; the only code that runs turns. */
export interface Lanes {
  start(): void;
  wake(sessionKey: string): void;
  /** The turn that runs now, to interrupt this one and never the next; null when none runs here. */
  current(sessionKey: string): RunningTurn | null;
  isRunning(sessionKey: string): boolean;
  /** Lets running turns end by themselves for `graceMs`, then parks them where they are, to be resumed. */
  drain(graceMs: number): Promise<void>;
  readonly running: number;
}

export function createLanes(options: LanesOptions): Lanes {
  const { store, queue, clock, log, intake } = options;
  const owner = randomUUID();
  const active = new Map<string, { abort: AbortController; fence: number }>();
  const again = (key: string) => void enqueue(key);
  const retries = createRetries({ clock, log, again });
  let stopRenewing: (() => void) | null = null;
  let draining = false;
  let suspects: Promise<void> = Promise.resolve();

  /** A session whose person cannot be told (the store fails) stands for itself. */
  async function enqueue(key: string): Promise<void> {
    const session = await store.read.sessions.get(key).catch(() => null);
    await queue.enqueue(key, session ? `${session.chat.platform}:${session.userId}` : key);
  }

  /** What may be killing the process runs alone, so that nothing else is blamed for its next death. */
  async function work(key: string): Promise<void> {
    const session = await store.read.sessions.get(key);
    if (session === null || !isSuspect(session.blame)) return workLeased(key);
    const mine = suspects.then(() => workLeased(key));
    suspects = mine.catch(() => undefined);
    return mine;
  }

  async function workLeased(key: string): Promise<void> {
    let fence: number | null = null;
    try {
      fence = await store.transaction((tables) =>
        tables.sessions.acquire(key, owner, clock.now(), clock.now() + leaseMs),
      );
      // Another process has it, or had it when it died: look again when its lease may be over.
      if (fence === null) return lookAgain(key);
      await workUnderLease(key, fence);
      retries.succeeded(key);
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'cancelled') return lookAgain(key);
      if (!draining) retries.failed(key, error);
      throw error;
    } finally {
      if (fence !== null) await release(key, fence);
    }
  }

  function lookAgain(key: string): void {
    if (!draining) clock.after(leaseMs / 10, () => again(key));
  }

  /** A lease that cannot be given back (a full disk) is taken again by this process, or runs out. */
  async function release(key: string, fence: number): Promise<void> {
    try {
      await store.transaction((tables) => tables.sessions.release(key, fence));
    } catch (error) {
      log.warn({ session: key, error: errorMessage(error) }, 'a session lease could not be given back');
    }
  }

  async function workUnderLease(key: string, fence: number): Promise<void> {
    while (!draining) {
      const session = await store.read.sessions.get(key);
      if (!session) return;
      if (session.turn === 'idle') {
        if (isGuilty(session.blame)) {
          await intake.setAside(session, fence);
          continue;
        }
        const next = await intake.takeNext(session, fence);
        if (next.kind === 'later') clock.after(next.afterMs, () => again(key));
        if (next.kind !== 'taken') return;
      }
      if ((await workOnTurn(key, fence)) === 'left') return;
    }
  }

  async function workOnTurn(key: string, fence: number): Promise<'ended' | 'left'> {
    const session = await store.read.sessions.get(key);
    if (!session) return 'left';
    const turn = await options.openTurn(session, fence);
    const abort = new AbortController();
    active.set(key, { abort, fence });
    const limitMs = options.inactivityMs();
    const stopWatching = watchActivity(turn, abort, { limitMs, clock, log, session: key });
    try {
      if (isGuilty(session.blame) || retries.isHopeless(key)) {
        await turn.giveUp('deaths');
        return 'ended';
      }
      if (session.turn === 'parked' && (await wasSuperseded(session))) {
        await turn.close((await store.read.inbox.countWaiting(key)) > 0 ? 'superseded' : 'stopped');
        return 'ended';
      }
      if (session.turn === 'parked') await setTurn(key, fence, 'running');
      const outcome = await runOrAbandon(turn, abort.signal, clock);
      return await conclude(key, fence, turn, outcome, abort.signal.reason);
    } finally {
      stopWatching();
      active.delete(key);
      turn.dispose();
    }
  }

  async function conclude(
    key: string,
    fence: number,
    turn: TurnRun,
    outcome: TurnOutcome | 'abandoned',
    reason: unknown,
  ): Promise<'ended' | 'left'> {
    if (outcome === 'done') return 'ended';
    const isCutShort = reason === 'superseded' || reason === 'stopped';
    // It was cut short while its request was being made, so whoever cut it did not see the request yet.
    if (outcome === 'parked' && isCutShort) await options.withdrawRequests(key);
    else if (outcome === 'parked') {
      await setTurn(key, fence, 'parked');
      // A decision may have come between the look and the mark.
      const open = await store.read.approvals.pending(key);
      if (open.length === 0) again(key);
      return 'left';
    }
    if (isCutShort) await turn.close(reason);
    else if (reason === 'stalled') await turn.giveUp('stalled');
    // Anything else (shutdown, a lost lease) leaves the turn as it is, to be resumed.
    else {
      lookAgain(key);
      return 'left';
    }
    if (outcome !== 'abandoned') return 'ended';
    // The run may still write: the session goes on under a new token.
    again(key);
    return 'left';
  }

  const setTurn = (key: string, fence: number, turn: SessionRow['turn']) =>
    store.transaction(async (tables) => {
      await proveLease(tables, key, fence);
      await tables.sessions.update(key, { turn });
    });

  /** The open call's request was withdrawn: the person said something else instead. */
  async function wasSuperseded(session: SessionRow): Promise<boolean> {
    const step = nextStep(await store.read.entries.list(session.sessionId));
    if (step.kind !== 'run_tools') return false;
    for (const call of step.calls) {
      const request = await store.read.approvals.byCall(session.sessionId, call.id);
      if (request?.state === 'superseded') return true;
    }
    return false;
  }

  function renewLeases(): void {
    stopRenewing = clock.after(renewMs, () => {
      renew().catch((error: unknown) =>
        log.error({ error: errorMessage(error) }, 'session leases could not be renewed'),
      );
      renewLeases();
    });
  }

  /** Also ends the turns whose lease another process took, as after a long sleep of this machine. */
  async function renew(): Promise<void> {
    await store.transaction((tables) => tables.sessions.renew(owner, clock.now() + leaseMs));
    for (const [key, { abort, fence }] of active) {
      if (!(await store.read.sessions.holds(key, fence))) abort.abort('lost');
    }
  }

  return {
    start() {
      renewLeases();
      queue.start(work);
    },
    wake: again,
    current(key) {
      const turn = active.get(key);
      return turn ? { interrupt: (reason) => turn.abort.abort(reason) } : null;
    },
    isRunning: (key) => active.has(key),
    async drain(graceMs) {
      draining = true;
      await queue.stop(graceMs);
      for (const { abort } of active.values()) abort.abort('shutdown');
      await queue.stop(5_000);
      // A tool that did not heed the signal: its turn was stopped, not the cause of a death.
      for (const [key, { fence }] of active) await release(key, fence);
      stopRenewing?.();
    },
    get running() {
      return active.size;
    },
  };
}
