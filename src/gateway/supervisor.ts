import type { BotCommand, Platform, PlatformSink, PlatformState } from '../../platforms/platform.ts';
import type { Clock } from '../clock.ts';
import { errorMessage, GatewayError } from '../errors.ts';
import type { Log } from '../log.ts';

const connectTimeoutMs = 30_000;
const firstRetryMs = 1_000;
const longestRetryMs = 300_000;

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
  /** Why not every platform is connected, a line each; empty when all are. */
  unready(): string[];
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { clock, log, platforms } = options;
  const stopping = new AbortController();
  const states = new Map<string, { state: PlatformState; lastAliveAt: number | null }>();
  for (const name of platforms.keys())
    states.set(name, { state: { state: 'connecting' }, lastAliveAt: null });

  function setState(name: string, state: PlatformState): void {
    const known = states.get(name);
    states.set(name, { state, lastAliveAt: known?.lastAliveAt ?? null });
    if (state.state === 'fatal') log.error({ platform: name, ...state }, `${name} is off: ${state.reason}`);
    else if (state.state !== known?.state.state)
      log.info({ platform: name, ...state }, `${name} is ${state.state}`);
    options.onChange();
  }

  const sinkFor = (name: string): PlatformSink => ({
    ...options.sink,
    report: (state) => setState(name, state),
    alive() {
      const known = states.get(name);
      if (known) known.lastAliveAt = clock.now();
    },
  });

  /** True when it connected; false when it failed for good. A failure that may pass is tried again in the background. */
  async function connect(platform: Platform, tries: number): Promise<void> {
    const { name } = platform;
    try {
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(connectTimeoutMs)]);
      await platform.connect(sinkFor(name), options.commandsFor(name), signal);
      if (states.get(name)?.state.state === 'connecting') setState(name, { state: 'connected', account: '' });
    } catch (error) {
      if (stopping.signal.aborted) return;
      const known = error instanceof GatewayError ? error : null;
      if (known && !known.retryable) {
        setState(name, {
          state: 'fatal',
          code: known.code,
          reason: known.message,
          ...(known.mend && { mend: known.mend }),
        });
        return;
      }
      setState(name, { state: 'retrying', reason: errorMessage(error) });
      const waitMs = known?.retryAfterMs ?? Math.min(longestRetryMs, firstRetryMs * 2 ** tries);
      clock.after(waitMs, () => void connect(platform, tries + 1));
    }
  }

  return {
    async start() {
      await Promise.all([...platforms.values()].map((platform) => connect(platform, 0)));
    },
    async stop() {
      stopping.abort();
      await Promise.allSettled([...platforms.values()].map((platform) => platform.disconnect()));
      for (const name of platforms.keys()) setState(name, { state: 'disconnected' });
    },
    health: () => [...states].map(([name, known]) => ({ name, ...known })),
    unready: () =>
      [...states].flatMap(([name, { state }]) => {
        if (state.state === 'connected') return [];
        return [`${name} is ${state.state}${'reason' in state ? `: ${state.reason}` : ''}`];
      }),
  };
}
