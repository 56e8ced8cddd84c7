import { randomBytes } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import type { Clock } from '../../src/clock.ts';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import { redactSecrets } from '../../src/redact.ts';
import type { BackgroundStart, Environment } from './environment.ts';
import { adoptLocalProcess, unknownExit } from './local-background.ts';
import type { ProcessNotice, ProcessRow, ProcessStore, ProcessTable, StartRequest } from './process-table.ts';
import { completionText, keptChars, matchText, plainTail } from './process-texts.ts';
import { createNoticeBreaker, createPatternWatch, type PatternWatch } from './watch-patterns.ts';

export interface ProcessTableOptions {
  store: ProcessStore;
  /** Delivers a notice to the session; resolves once it is stored. */
  notify(notice: ProcessNotice): Promise<void>;
  clock: Clock;
  log: Log;
  /** Takes up a process that an earlier run started elsewhere than on this machine; null when it is gone. */
  adopt?(row: ProcessRow): BackgroundStart | null;
}

export interface ManagedProcessTable extends ProcessTable {
  /** Reads the stored rows: what still lives is taken up as detached, what ended meanwhile is told. */
  restore(): Promise<void>;
}

const finishedKeptMs = 30 * 60_000;
const maxTracked = 64;
const shortestPrefix = 4;

interface Tracked {
  row: ProcessRow;
  started: BackgroundStart;
  output: string;
  finishedAt: number | null;
  finished: Promise<void>;
  waiters: number;
  watch: PatternWatch | null;
}

async function adoptLocal(row: ProcessRow): Promise<BackgroundStart | null> {
  if (row.pid === null || row.startToken === null) return null;
  return adoptLocalProcess(row.pid, row.startToken);
}

/** Tracks the background processes of all sessions, in memory and in the store. */
export function createProcessTable(options: ProcessTableOptions): ManagedProcessTable {
  const { store, clock, log } = options;
  const tracked = new Map<string, Tracked>();
  const breaker = createNoticeBreaker(clock);

  function save(entry: Tracked): Promise<void> {
    return store.save(entry.row).catch((error) => {
      log.error(
        { process: entry.row.id, error: errorMessage(error) },
        'A background process was not stored.',
      );
    });
  }

  async function tell(entry: Tracked, kind: ProcessNotice['kind'], text: string): Promise<boolean> {
    const { id: processId, sessionId } = entry.row;
    try {
      await options.notify({ processId, sessionId, kind, text: redactSecrets(text) });
      return true;
    } catch (error) {
      log.error({ process: processId, error: errorMessage(error) }, 'A process notice was not delivered.');
      return false;
    }
  }

  async function tellCompletion(entry: Tracked): Promise<void> {
    if (!entry.row.notifyOnComplete || entry.row.consumed) return;
    entry.row.consumed = true;
    if (await tell(entry, 'completed', completionText(entry.row, entry.output))) return save(entry);
    // Not delivered: stays due, and is told after the next start.
    entry.row.consumed = false;
  }

  function onOutput(entry: Tracked, text: string): void {
    entry.output += text;
    if (entry.output.length > 2 * keptChars) entry.output = entry.output.slice(-keptChars);
    const event = entry.row.status === 'running' ? entry.watch?.feed(stripVTControlCharacters(text)) : null;
    if (event?.kind === 'matched') void tell(entry, 'matched', matchText(entry.row, event));
    if (event?.kind === 'gave_up') {
      entry.row.notifyOnComplete = true;
      void save(entry);
    }
  }

  async function finish(entry: Tracked, exitCode: number | null): Promise<void> {
    entry.row.status = 'exited';
    entry.row.exitCode = exitCode;
    entry.finishedAt = clock.now();
    await save(entry);
    // A caller that waits reads the result itself: it gets its turn to say so before a notice goes out.
    if (entry.waiters > 0) setImmediate(() => void tellCompletion(entry));
    else await tellCompletion(entry);
  }

  function track(row: ProcessRow, started: BackgroundStart): Tracked {
    const watch = row.watchPatterns.length > 0 ? createPatternWatch(row.watchPatterns, clock, breaker) : null;
    const entry: Tracked = {
      row,
      started,
      output: '',
      finishedAt: null,
      finished: Promise.resolve(),
      waiters: 0,
      watch,
    };
    tracked.set(row.id, entry);
    started.onOutput((text) => onOutput(entry, text));
    entry.finished = started.exited.then((code) => finish(entry, code === unknownExit ? null : code));
    return entry;
  }

  /** Old finished ones go first; a running process is never dropped. */
  function makeRoom(): void {
    const finished = [...tracked.values()].filter((entry) => entry.finishedAt !== null);
    finished.sort((a, b) => (a.finishedAt ?? 0) - (b.finishedAt ?? 0));
    let surplus = tracked.size - maxTracked + 1;
    for (const entry of finished) {
      const isOld = clock.now() - (entry.finishedAt ?? 0) > finishedKeptMs;
      if (!isOld && surplus <= 0) return;
      surplus -= 1;
      tracked.delete(entry.row.id);
      store.remove(entry.row.id).catch((error) => {
        log.warn({ process: entry.row.id, error: errorMessage(error) }, 'A finished process stays stored.');
      });
    }
    if (surplus > 0) {
      throw new GatewayError('environment_refused', `${maxTracked} background processes run already.`, {
        mend: 'Kill one that is not needed any more with the process tool.',
      });
    }
  }

  function known(id: string): Tracked {
    const entry = tracked.get(id);
    if (entry === undefined) throw new GatewayError('usage', `There is no background process ${id}.`);
    return entry;
  }

  async function consume(id: string): Promise<void> {
    const entry = known(id);
    if (entry.row.consumed) return;
    entry.row.consumed = true;
    await save(entry);
  }

  async function kill(id: string) {
    const entry = known(id);
    if (entry.row.status === 'exited') return { killed: false, alreadyExited: true, survivors: [] };
    const survivors = await entry.started.kill();
    if (survivors.length === 0) await entry.finished;
    return { killed: survivors.length === 0, alreadyExited: false, survivors };
  }

  return {
    async start(environment, request) {
      makeRoom();
      const started = await environment.spawn({
        command: request.command,
        sessionId: request.sessionId,
        pty: request.pty,
        ...(request.cwd !== undefined && { cwd: request.cwd }),
      });
      const entry = track(newRow(environment, request, started, clock.now()), started);
      await save(entry);
      return { ...entry.row, ...(started.ptyNote !== undefined && { ptyNote: started.ptyNote }) };
    },
    find(sessionId, idOrPrefix) {
      const mine = [...tracked.values()].map(({ row }) => row).filter((row) => row.sessionId === sessionId);
      const exact = mine.find((row) => row.id === idOrPrefix);
      if (exact !== undefined) return exact;
      const prefix = idOrPrefix.replace(/^proc_/, '');
      if (prefix.length < shortestPrefix) return null;
      const matching = mine.filter((row) => row.id.startsWith(`proc_${prefix}`));
      return matching.length === 1 ? (matching[0] ?? null) : null;
    },
    list: (sessionId) =>
      [...tracked.values()].map(({ row }) => row).filter((row) => row.sessionId === sessionId),
    output: (id) => plainTail(known(id).output),
    async wait(id, timeoutMs, signal) {
      const entry = known(id);
      if (entry.row.status === 'exited') return 'exited';
      entry.waiters += 1;
      try {
        return await firstOf(entry.started.exited, clock, timeoutMs, signal);
      } finally {
        // Kept until the notice of the same exit has looked.
        setImmediate(() => {
          entry.waiters -= 1;
        });
      }
    },
    consume,
    async write(id, data) {
      const entry = known(id);
      if (entry.row.status === 'exited') return 'exited';
      return (await entry.started.write(data)) ? 'ok' : 'no_stdin';
    },
    async closeInput(id) {
      const entry = known(id);
      if (entry.row.status === 'exited') return 'exited';
      if (entry.row.detached) return 'no_stdin';
      await entry.started.closeInput();
      return 'ok';
    },
    kill,
    async killSession(sessionId) {
      const running = [...tracked.values()].filter(
        ({ row }) => row.sessionId === sessionId && row.status === 'running',
      );
      await Promise.all(running.map(({ row }) => consume(row.id).then(() => kill(row.id))));
      return running.length;
    },
    async restore() {
      for (const row of await store.load()) {
        if (tracked.has(row.id)) continue;
        if (row.status === 'exited') {
          track({ ...row }, { ...gone, exited: Promise.resolve(row.exitCode ?? unknownExit) });
        } else {
          const started = await (row.backend === 'local' ? adoptLocal(row) : options.adopt?.(row));
          track({ ...row, detached: true }, started ?? gone);
        }
      }
    },
  };
}

/** Stands for a process that ended while no gateway ran: its exit code is unknown. */
const gone: BackgroundStart = {
  pid: null,
  startedAt: null,
  exited: Promise.resolve(unknownExit),
  onOutput: () => undefined,
  write: async () => false,
  closeInput: async () => undefined,
  resize: () => undefined,
  kill: async () => [],
};

function newRow(
  environment: Environment,
  request: StartRequest,
  started: BackgroundStart,
  now: number,
): ProcessRow {
  return {
    id: `proc_${randomBytes(6).toString('hex')}`,
    sessionId: request.sessionId,
    command: request.command,
    cwd: request.cwd ?? environment.cwd(request.sessionId),
    pid: started.pid,
    startedAt: now,
    status: 'running',
    exitCode: null,
    notifyOnComplete: request.notifyOnComplete,
    watchPatterns: request.notifyOnComplete ? [] : request.watchPatterns,
    detached: false,
    backend: environment.backend,
    startToken: started.startedAt,
    consumed: false,
  };
}

function firstOf(
  exited: Promise<unknown>,
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<'exited' | 'timeout' | 'interrupted'> {
  return new Promise((resolve) => {
    const cancel = clock.after(timeoutMs, () => settle('timeout'));
    const onAbort = () => settle('interrupted');
    function settle(how: 'exited' | 'timeout' | 'interrupted'): void {
      cancel();
      signal.removeEventListener('abort', onAbort);
      resolve(how);
    }
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    exited.then(() => settle('exited'));
  });
}
