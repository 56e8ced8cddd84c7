import type { BotCommand, Platform, PlatformSink, PlatformState } from '../../platforms/platform.ts';
import { type Clock, sleep } from '../clock.ts';
import { errorMessage, GatewayError } from '../errors.ts';
import type { Log } from '../log.ts';

const connectTimeoutMs = 30_000;
const firstRetryMs = 1_000;
const longestRetryMs = 300_000;
/** A platform silent for so many of its own intervals is connected anew. */
const silentIntervals = 3;
const disconnectTimeoutMs = 10_000;

export interface SupervisorOptions {
  clock: Clock;
  log: Log;
  platforms: ReadonlyMap<string, Platform>;
  sink: Pick<PlatformSink, 'receive' | 'press'>;
  commandsFor(platform: string): readonly BotCommand[];
  onChange(): void;
}

export interface PlatformHealth {
  name: string;
  state: PlatformState;
  /** Last completed contact (ms since the epoch), or null before the first. */
  lastAliveAt: number | null;
}

/** Connects the platforms and keeps them connected: one that fails stops no other. */
export interface Supervisor {
  /** Resolves when every platform has connected or failed for the first time. */
  start(): Promise<void>;
  stop(): Promise<void>;
  health(): readonly PlatformHealth[];
  /** Milliseconds since the quietest connected platform, of those that give signs of life, gave one. */
  longestSilenceMs(): number;
  /** Why not every platform is connected, a line each; empty when all are. */
  unready(): string[];
}

interface Known {
  state: PlatformState;
  lastAliveAt: number | null;
  /** A connect runs, or waits for its next try: the watchdog has nothing to do. */
  connecting: boolean;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { clock, log, platforms } = options;
  const stopping = new AbortController();
  const states = new Map<string, Known>();
  for (const name of platforms.keys())
    states.set(name, { state: { state: 'connecting' }, lastAliveAt: null, connecting: true });

  function setState(name: string, state: PlatformState): void {
    const known = states.get(name);
    if (!known) return;
    const before = known.state.state;
    known.state = state;
    if (state.state === 'fatal') log.error({ platform: name, ...state }, `${name} is off: ${state.reason}`);
    else if (state.state !== before) {
      const level = state.state === 'retrying' ? 'warn' : 'info';
      log[level]({ platform: name, ...state }, `${name} is ${state.state}`);
    }
    options.onChange();
  }

  function alive(name: string): void {
    const known = states.get(name);
    if (known) known.lastAliveAt = clock.now();
  }

  const sinkFor = (name: string): PlatformSink => ({
    ...options.sink,
    report: (state) => setState(name, state),
    alive: () => alive(name),
  });

  /** A failure that may pass is tried again in the background; one that will not turns the platform off. */
  async function connect(platform: Platform, known: Known, tries: number): Promise<void> {
    const { name } = platform;
    known.connecting = true;
    try {
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(connectTimeoutMs)]);
      await platform.connect(sinkFor(name), options.commandsFor(name), signal);
      if (known.state.state === 'connecting') setState(name, { state: 'connected', account: '' });
      alive(name);
      known.connecting = false;
    } catch (error) {
      if (stopping.signal.aborted) return;
      const cause = error instanceof GatewayError ? error : null;
      if (cause && !cause.retryable) {
        const { code, message: reason, mend } = cause;
        setState(name, { state: 'fatal', code, reason, ...(mend && { mend }) });
        return;
      }
      setState(name, { state: 'retrying', reason: errorMessage(error) });
      const waitMs = cause?.retryAfterMs ?? Math.min(longestRetryMs, firstRetryMs * 2 ** tries);
      clock.after(waitMs, () => void connect(platform, known, tries + 1));
    }
  }

  const silenceOf = (known: Known) => clock.now() - (known.lastAliveAt ?? clock.now());

  /** A connection can look open and be dead, as after a sleep or a change of network. */
  function watch(platform: Platform, known: Known): void {
    const everyMs = platform.capabilities.aliveEveryMs;
    if (everyMs === undefined) return;
    const cancel = clock.after(everyMs, () => {
      stopping.signal.removeEventListener('abort', cancel);
      const isDead = silenceOf(known) > silentIntervals * everyMs;
      const look = () => watch(platform, known);
      if (!isDead || known.connecting || known.state.state === 'fatal') return look();
      void reconnect(platform, known).then(look);
    });
    stopping.signal.addEventListener('abort', cancel, { once: true });
  }

  async function reconnect(platform: Platform, known: Known): Promise<void> {
    const seconds = Math.round(silenceOf(known) / 1_000);
    known.connecting = true;
    setState(platform.name, {
      state: 'retrying',
      reason: `no sign of life for ${seconds} s; connecting anew`,
    });
    const late = sleep(clock, disconnectTimeoutMs);
    await Promise.race([platform.disconnect(), late]).catch((error: unknown) =>
      log.warn({ platform: platform.name, error: errorMessage(error) }, 'a dead connection did not close'),
    );
    if (stopping.signal.aborted) return;
    setState(platform.name, { state: 'connecting' });
    await connect(platform, known, 0);
  }

  const each = <T>(work: (platform: Platform, known: Known) => T): T[] =>
    [...platforms.values()].flatMap((platform) => {
      const known = states.get(platform.name);
      return known ? [work(platform, known)] : [];
    });

  return {
    async start() {
      await Promise.all(each((platform, known) => connect(platform, known, 0)));
      if (!stopping.signal.aborted) each(watch);
    },
    async stop() {
      stopping.abort();
      await Promise.allSettled([...platforms.values()].map((platform) => platform.disconnect()));
      for (const name of platforms.keys()) setState(name, { state: 'disconnected' });
    },
    health: () => [...states].map(([name, { state, lastAliveAt }]) => ({ name, state, lastAliveAt })),
    longestSilenceMs: () =>
      Math.max(
        0,
        ...each(({ capabilities }, known) =>
          capabilities.aliveEveryMs === undefined || known.state.state !== 'connected' ? 0 : silenceOf(known),
        ),
      ),
    unready: () =>
      [...states].flatMap(([name, { state }]) => {
        if (state.state === 'connected') return [];
        return [`${name} is ${state.state}${'reason' in state ? `: ${state.reason}` : ''}`];
      }),
  };
}
