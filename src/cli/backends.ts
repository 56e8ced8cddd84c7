import {
  createProcessTable,
  type ManagedProcessTable,
} from '../../tools/environments/background-processes.ts';
import type { Environment } from '../../tools/environments/environment.ts';
import { createEnvironments } from '../../tools/environments/environments.ts';
import { installIdOf, reapLeftovers } from '../../tools/environments/index.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/schema.ts';
import { errorMessage } from '../errors.ts';
import type { Log } from '../log.ts';
import type { SessionRow } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import { terminalOptionsOf } from './terminal-options.ts';

export interface BackendsOptions {
  home: string;
  env: Readonly<Record<string, string | undefined>>;
  store: Store;
  config(): Config;
  log: Log;
  clock: Clock;
  notify(sessionId: string, text: string, key?: string): Promise<void>;
  /** Programs that run side by side on one home must not stop each other's. Default: `gateway`. */
  sandbox?: SandboxUse;
}

/** Whose sandbox: the gateway's, that of `chat`, or one for a single question, which goes with it. */
export type SandboxUse = 'gateway' | 'chat' | 'once';

/** Where commands run, opened on first use. */
export interface Backends {
  processes: ManagedProcessTable;
  environmentFor(session: SessionRow): Promise<Environment>;
  forgetSession(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

/** Sessions share one sandbox, and keep folders and variables apart in it. */
const taskOf = { gateway: 'default', chat: 'chat', once: `once-${process.pid}` } as const;

export function openBackends({
  home,
  env,
  store,
  config,
  log,
  clock,
  notify,
  sandbox = 'gateway',
}: BackendsOptions): Backends {
  const context = { installId: installIdOf(home), log, env };
  const options = () => {
    const asConfigured = terminalOptionsOf(config(), home);
    if (sandbox !== 'once') return asConfigured;
    return { ...asConfigured, container: { ...asConfigured.container, persistent: false } };
  };
  const sharedTask = taskOf[sandbox];
  const environments = createEnvironments({ options, context, clock, sharedTask });
  const processes = createProcessTable({
    store: {
      save: (row) => store.transaction((tables) => tables.processes.save(row)),
      load: () => store.read.processes.load(),
      remove: (id) => store.transaction((tables) => tables.processes.remove(id)),
    },
    // A completion is told once, whatever dies in between; a watched pattern may appear again.
    notify: ({ sessionId, processId, kind, text }) =>
      notify(sessionId, text, kind === 'completed' ? processId : undefined),
    adopt: environments.adopt,
    clock,
    log,
  });
  reapLeftovers(options(), context).then(
    (removed) => removed.length > 0 && log.info({ removed }, 'what a killed gateway left was removed'),
    (error: unknown) =>
      log.warn({ error: errorMessage(error) }, 'leftovers of a killed gateway could not be removed'),
  );

  return {
    processes,
    environmentFor: () => environments.for(sharedTask),
    forgetSession: (sessionId) => environments.forgetSession(sessionId),
    close: () => environments.close(),
  };
}
