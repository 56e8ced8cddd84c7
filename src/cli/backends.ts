import {
  createProcessTable,
  type ManagedProcessTable,
} from '../../tools/environments/background-processes.ts';
import type { Environment } from '../../tools/environments/environment.ts';
import { createLocalEnvironment } from '../../tools/environments/local.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { SessionRow } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';

export interface BackendsOptions {
  home: string;
  store: Store;
  config(): Config;
  log: Log;
  clock: Clock;
  notify(sessionId: string, text: string, key?: string): Promise<void>;
}

/** Where commands run, opened on first use. */
export interface Backends {
  processes: ManagedProcessTable;
  environmentFor(session: SessionRow): Promise<Environment>;
  forgetSession(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

export function openBackends({ store, config, log, clock, notify }: BackendsOptions): Backends {
  let opened: Promise<Environment> | null = null;

  async function open(): Promise<Environment> {
    const { terminal } = config();
    if (terminal.backend !== 'local') {
      throw new GatewayError(
        'environment_unavailable',
        `The terminal backend ${terminal.backend} is not built in yet.`,
        {
          mend: 'Set terminal.backend to local.',
        },
      );
    }
    return createLocalEnvironment({
      envPassthrough: terminal.env_passthrough,
      ...(terminal.cwd !== '.' && { cwd: terminal.cwd }),
    });
  }

  const processes = createProcessTable({
    store: {
      save: (row) => store.transaction((tables) => tables.processes.save(row)),
      load: () => store.read.processes.load(),
      remove: (id) => store.transaction((tables) => tables.processes.remove(id)),
    },
    // A completion is told once, whatever dies in between; a watched pattern may appear again.
    notify: ({ sessionId, processId, kind, text }) =>
      notify(sessionId, text, kind === 'completed' ? processId : undefined),
    clock,
    log,
  });

  return {
    processes,
    environmentFor() {
      if (!opened) {
        opened = open();
        // A backend that could not be opened is tried again at the next use.
        opened.catch(() => {
          opened = null;
        });
      }
      return opened;
    },
    async forgetSession(sessionId) {
      if (opened) await (await opened).forget(sessionId);
    },
    async close() {
      if (opened) await (await opened).close();
    },
  };
}
