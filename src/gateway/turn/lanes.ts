import { randomUUID } from 'node:crypto';
import { nextStep } from '../../agent/next-step.ts';
import type { TurnOutcome } from '../../agent/turn.ts';
import type { Clock } from '../../clock.ts';
import { errorMessage } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { TurnQueue } from '../../queue/turn-queue.ts';
import type { SessionRow } from '../../store/sessions.ts';
import type { Store } from '../../store/store.ts';
import type { Intake } from './intake.ts';

const leaseMs = 60_000;
const renewMs = 20_000;
/** How often a turn is resumed without getting on before it is given up. */
const maxResumes = 3;

/** Why a running turn is made to end. */
export type InterruptReason = 'superseded' | 'stopped' | 'shutdown' | 'stalled';

/** What one turn looks like from here; made anew each time the session is worked on. */
export interface TurnRun {
  /** Runs until rest, parking or abort. Failures of the model have become an answer to the user by then. */
  run(signal: AbortSignal): Promise<TurnOutcome>;
  /** Answers every open call and ends the turn: it was stopped, or a new message takes its place. */
  close(reason: 'superseded' | 'stopped'): Promise<void>;
  /** Gives the turn up with an apology. */
  giveUp(why: 'resumes' | 'stalled'): Promise<void>;
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
  const active = new Map<string, { abort: AbortController; turn: TurnRun }>();
  let stopRenewing: (() => void) | null = null;
  let draining = false;

  async function work(key: string): Promise<void> {
    const fence = await store.transaction((tables) =>
      tables.sessions.acquire(key, owner, clock.now(), clock.now() + leaseMs),
    );
    if (fence === null) {
      // Another process has it, or had it when it died: look again when its lease may be over.
      clock.after(leaseMs / 10, () => void queue.enqueue(key));
      return;
    }
    try {
      await workUnderLease(key, fence);
    } finally {
      await store.transaction((tables) => tables.sessions.release(key, fence));
    }
  }

  async function workUnderLease(key: string, fence: number): Promise<void> {
    while (!draining) {
      const session = await store.read.sessions.get(key);
      if (!session) return;
      if (session.turn === 'idle') {
        const next = await intake.takeNext(session, fence);
        if (next.kind === 'later') clock.after(next.afterMs, () => void queue.enqueue(key));
        if (next.kind !== 'taken') return;
      }
      if ((await workOnTurn(key, fence)) === 'parked') return;
    }
  }

  async function workOnTurn(key: string, fence: number): Promise<'ended' | 'parked'> {
    const session = await store.read.sessions.get(key);
    if (!session) return 'ended';
    const turn = await options.openTurn(session, fence);
    const abort = new AbortController();
    active.set(key, { abort, turn });
    const stopWatching = watch(key, abort, turn);
    try {
      if (session.resumes > maxResumes) {
        await turn.giveUp('resumes');
        return 'ended';
      }
      if (session.turn === 'parked' && (await wasSuperseded(session))) {
        await turn.close((await store.read.inbox.countWaiting(key)) > 0 ? 'superseded' : 'stopped');
        return 'ended';
      }
      if (session.turn === 'parked') await setTurn(key, 'running');
      return await conclude(key, turn, await turn.run(abort.signal), abort.signal.reason);
    } finally {
      stopWatching();
      active.delete(key);
      turn.dispose();
    }
  }

  async function conclude(
    key: string,
    turn: TurnRun,
    outcome: TurnOutcome,
    reason: unknown,
  ): Promise<'ended' | 'parked'> {
    if (outcome === 'done') return 'ended';
    if (outcome === 'parked') {
      await setTurn(key, 'parked');
      // A decision may have come between the look and the mark.
      const open = await store.read.approvals.pending(key);
      if (open.length === 0) void queue.enqueue(key);
      return 'parked';
    }
    if (reason === 'superseded' || reason === 'stopped') await turn.close(reason);
    else if (reason === 'stalled') await turn.giveUp('stalled');
    // Anything else (shutdown, a lost lease) leaves the turn as it is, to be resumed.
    return reason === 'shutdown' ? 'parked' : 'ended';
  }

  const setTurn = (key: string, turn: SessionRow['turn']) =>
    store.transaction((tables) => tables.sessions.update(key, { turn }));

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

  /** Ends a turn that shows no sign of life: activity counts, not wall time. */
  function watch(key: string, abort: AbortController, turn: TurnRun): () => void {
    const limitMs = options.inactivityMs();
    if (limitMs <= 0) return () => undefined;
    let cancel: (() => void) | null = null;
    const look = () => {
      const silentMs = clock.now() - turn.lastActivity();
      if (silentMs >= limitMs) {
        log.error({ session: key, silentMs }, 'a turn showed no sign of life and was ended');
        abort.abort('stalled');
      } else cancel = clock.after(limitMs - silentMs + 10, look);
    };
    cancel = clock.after(limitMs, look);
    return () => cancel?.();
  }

  function renewLeases(): void {
    stopRenewing = clock.after(renewMs, () => {
      store
        .transaction((tables) => tables.sessions.renew(owner, clock.now() + leaseMs))
        .catch((error: unknown) =>
          log.error({ error: errorMessage(error) }, 'session leases could not be renewed'),
        );
      renewLeases();
    });
  }

  return {
    start() {
      renewLeases();
      queue.start(work);
    },
    wake: (key) => void queue.enqueue(key),
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
      stopRenewing?.();
    },
    get running() {
      return active.size;
    },
  };
}
