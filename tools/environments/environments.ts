import type { Clock } from '../../src/clock.ts';
import { errorMessage } from '../../src/errors.ts';
import { adoptLater } from './adopt-later.ts';
import type { BackendName, BackgroundStart, Environment } from './environment.ts';
import { openEnvironment } from './index.ts';
import type { OpenContext, TerminalOptions } from './options.ts';
import type { ProcessRow } from './process-table.ts';

/** What one task may have otherwise than the configuration says. */
export interface TaskOverrides {
  cwd?: string;
  backend?: BackendName;
  dockerImage?: string;
  singularityImage?: string;
  daytonaImage?: string;
}

export interface EnvironmentsOptions {
  /** Read at each opening, so that a changed configuration counts for the next one. */
  options(): TerminalOptions;
  context: Omit<OpenContext, 'taskId'>;
  clock: Clock;
  /** The task that sessions share. Default: `default`. Programs that run side by side need one each. */
  sharedTask?: string;
  /** Default: `openEnvironment`. */
  open?(options: TerminalOptions, context: OpenContext): Promise<Environment>;
}

/** All environments of a gateway: opened on first use, shared by sessions, closed when idle. */
export interface Environments {
  /** The environment of a task: the shared one, unless its overrides name another image or backend. */
  for(taskId: string): Promise<Environment>;
  registerTaskEnvOverrides(taskId: string, overrides: TaskOverrides): void;
  clearTaskEnvOverrides(taskId: string): void;
  /** Takes up a background process that an earlier run started; null when that is impossible for good. */
  adopt(row: ProcessRow): BackgroundStart | null;
  forgetSession(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

const sweepMs = 60_000;

interface Held {
  environment: Promise<Environment>;
  busy: number;
  usedAt: number;
}

export function createEnvironments(settings: EnvironmentsOptions): Environments {
  const { clock, context, sharedTask: sharedKey = 'default' } = settings;
  const held = new Map<string, Held>();
  const overrides = new Map<string, TaskOverrides>();
  const open = settings.open ?? openEnvironment;
  const closing = new AbortController();
  let stopSweep = scheduleSweep();

  function scheduleSweep(): () => void {
    return clock.after(sweepMs, () => {
      sweep();
      stopSweep = scheduleSweep();
    });
  }

  /** This machine costs nothing to hold, and would lose its sessions' folders. */
  function sweep(): void {
    const { lifetimeMs } = settings.options();
    for (const [key, { environment, busy, usedAt }] of held) {
      if (busy > 0 || clock.now() - usedAt < lifetimeMs) continue;
      environment
        .then(async (opened) => {
          if (opened.backend === 'local' || !held.delete(key)) return;
          await opened.close();
        })
        .catch((error) => {
          context.log.warn({ error: errorMessage(error) }, 'An idle environment was not closed.');
        });
    }
  }

  function opened(key: string, taskId: string): Held {
    const known = held.get(key);
    if (known !== undefined) return known;
    const options = { ...settings.options() };
    const entry: Held = {
      environment: open(withOverrides(options, overrides.get(taskId)), { ...context, taskId: key }),
      busy: 0,
      usedAt: clock.now(),
    };
    held.set(key, entry);
    // One that could not be opened is tried again at the next use.
    entry.environment.catch(() => {
      if (held.get(key) === entry) held.delete(key);
    });
    return entry;
  }

  /** On every environment; one that fails, or that could not be opened, keeps no other from its turn. */
  async function quietly(problem: string, act: (environment: Environment) => Promise<void>): Promise<void> {
    const acts = [...held.values()].map(async ({ environment }) => act(await environment));
    for (const result of await Promise.allSettled(acts)) {
      if (result.status === 'rejected') context.log.warn({ error: errorMessage(result.reason) }, problem);
    }
  }

  return {
    async for(taskId) {
      const own = overrides.get(taskId);
      const entry = opened(isolates(own) ? taskId : sharedKey, taskId);
      const environment = counted(await entry.environment, entry, clock);
      return own?.cwd === undefined ? environment : startingIn(environment, own.cwd);
    },
    registerTaskEnvOverrides(taskId, next) {
      overrides.set(taskId, next);
    },
    clearTaskEnvOverrides(taskId) {
      overrides.delete(taskId);
    },
    adopt(row) {
      // Another backend was chosen since, so nothing is known of the place any more.
      if (row.pid === null || row.startToken === null || row.backend !== settings.options().backend)
        return null;
      const open = async () => {
        const entry = opened(sharedKey, sharedKey);
        return counted(await entry.environment, entry, clock);
      };
      const { pid, startToken: startedAt } = row;
      return adoptLater(open, { pid, startedAt, log: context.log, signal: closing.signal });
    },
    async forgetSession(sessionId) {
      await Promise.all(
        [...held.values()].map(async ({ environment }) => (await environment).forget(sessionId)),
      );
    },
    async close() {
      stopSweep();
      closing.abort();
      await quietly('An environment was not closed.', (environment) => environment.close());
      held.clear();
    },
  };
}

/** A folder alone needs no sandbox of its own. */
function isolates(own: TaskOverrides | undefined): boolean {
  const images = [own?.dockerImage, own?.singularityImage, own?.daytonaImage];
  return own?.backend !== undefined || images.some((image) => image !== undefined);
}

function withOverrides(options: TerminalOptions, own: TaskOverrides = {}): TerminalOptions {
  return {
    ...options,
    backend: own.backend ?? options.backend,
    docker: { ...options.docker, image: own.dockerImage ?? options.docker.image },
    singularity: { ...options.singularity, image: own.singularityImage ?? options.singularity.image },
    daytona: { ...options.daytona, image: own.daytonaImage ?? options.daytona.image },
  };
}

/** Keeps the count of what runs, so that nothing is closed under a command or a background process. */
function counted(environment: Environment, entry: Held, clock: Clock): Environment {
  async function during<T>(work: () => Promise<T>): Promise<T> {
    entry.busy += 1;
    try {
      return await work();
    } finally {
      entry.busy -= 1;
      entry.usedAt = clock.now();
    }
  }
  return {
    ...environment,
    exec: (request) => during(() => environment.exec(request)),
    run: (argv, options) => during(() => environment.run(argv, options)),
    async spawn(request) {
      const started = await during(() => environment.spawn(request));
      void during(() => started.exited);
      return started;
    },
    async adopt(pid, startedAt) {
      const started = await during(() => environment.adopt(pid, startedAt));
      if (started !== null) void during(() => started.exited);
      return started;
    },
  };
}

const moveMs = 30_000;

/** The same place, but each session that has not moved yet begins in `cwd`. */
function startingIn(environment: Environment, cwd: string): Environment {
  async function begin(sessionId: string, signal: AbortSignal): Promise<void> {
    if (environment.cwd(sessionId) !== environment.defaultCwd) return;
    const quoted = `'${cwd.replaceAll("'", `'\\''`)}'`;
    await environment.exec({ command: `cd -- ${quoted}`, sessionId, timeoutMs: moveMs, signal });
  }
  return {
    ...environment,
    defaultCwd: cwd,
    cwd(sessionId) {
      const current = environment.cwd(sessionId);
      return current === environment.defaultCwd ? cwd : current;
    },
    async exec(request) {
      await begin(request.sessionId, request.signal);
      return environment.exec(request);
    },
    async spawn(request) {
      await begin(request.sessionId, new AbortController().signal);
      return environment.spawn(request);
    },
  };
}
