import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { type Config, configSchema } from '../../src/config/schema.ts';
import { createGateway, type Gateway, type GatewayParts } from '../../src/gateway/gateway.ts';
import { createPairing } from '../../src/gateway/pairing.ts';
import { createSessionTools } from '../../src/gateway/turn/session-tools.ts';
import { silentLog } from '../../src/log.ts';
import type { ModelClient } from '../../src/model/model-client.ts';
import { createEmbeddedQueue } from '../../src/queue/embedded.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import type { ManagedProcessTable } from '../../tools/environments/background-processes.ts';
import type { Environment } from '../../tools/environments/environment.ts';
import { noHooks } from '../../tools/hooks.ts';
import { createRegistry, type Registry } from '../../tools/registry.ts';
import { createMemoryPlatform, type MemoryPlatform } from './memory-platform.ts';

export interface Harness {
  home: string;
  platform: MemoryPlatform;
  store: Store;
  gateway: Gateway;
  config: Config;
  /** Ends the gateway as a kill would: nothing is drained, nothing more is written. */
  restart(model: ModelClient, meanwhile?: (store: Store) => Promise<void>): Promise<void>;
  dispose(): Promise<void>;
}

export interface HarnessOptions {
  model: ModelClient;
  register(registry: Registry): void;
  config?: Record<string, unknown>;
  platform?: MemoryPlatform;
  environment?: () => Promise<Environment>;
  /** Told of sessions that could not be worked on; without it such an error fails the test. */
  onError?(error: unknown): void;
  /** Parts to use instead of the harness's own. */
  parts?: Partial<GatewayParts>;
}

/** A whole gateway on a temporary home: real store, queue, registry, approvals; a platform in memory. */
export async function startHarness(options: HarnessOptions): Promise<Harness> {
  const home = await mkdtemp(join(tmpdir(), 'hermes-gateway-'));
  const platform = options.platform ?? createMemoryPlatform();
  const registry = createRegistry({ log: silentLog });
  options.register(registry);
  const config = configSchema.parse({
    telegram: { token: 'x', allow_all_users: true },
    platform_toolsets: { telegram: ['test'] },
    ...options.config,
  });
  let running: { gateway: Gateway; store: Store } | null = null;

  async function start(model: ModelClient): Promise<{ gateway: Gateway; store: Store }> {
    const store = openSqliteStore(join(home, 'state.db'));
    const none: Partial<ManagedProcessTable> = {
      list: () => [],
      killSession: async () => 0,
      restore: async () => undefined,
    };
    const gateway = createGateway({
      home,
      config: () => config,
      store,
      queue: createEmbeddedQueue({
        concurrency: 16,
        onError: (_key, error) => (options.onError ?? keepError)(error),
      }),
      clock: systemClock,
      log: silentLog,
      platforms: new Map([[platform.name, platform]]),
      model: () => model,
      registry,
      hooks: noHooks,
      sessionTools: createSessionTools({ registry, log: silentLog, config: () => config, env: {}, cli: [] }),
      // Only what these tests reach.
      processes: none as ManagedProcessTable,
      environmentFor:
        options.environment ?? (async () => Promise.reject(new Error('no environment in this test'))),
      forgetSession: async () => undefined,
      pairing: createPairing(home, systemClock),
      allowlist: {
        async add(entries) {
          config.command_allowlist.push(...entries);
        },
        async forget(entry) {
          const index = config.command_allowlist.indexOf(entry);
          if (index >= 0) config.command_allowlist.splice(index, 1);
          return index >= 0;
        },
      },
      setHome: async () => undefined,
      preview: async () => '2 files, 3 kB',
      smart: async () => 'escalate',
      yolo: false,
      observe: {
        received: () => undefined,
        delivered: () => undefined,
        turnEnded: () => undefined,
        approvalEnded: () => undefined,
        changed: () => undefined,
      },
      ...options.parts,
    });
    await gateway.start();
    return { gateway, store };
  }

  const errors: unknown[] = [];
  const keepError = (error: unknown) => void errors.push(error);
  running = await start(options.model);
  return {
    home,
    platform,
    config,
    get store() {
      if (!running) throw new Error('not running');
      return running.store;
    },
    get gateway() {
      if (!running) throw new Error('not running');
      return running.gateway;
    },
    async restart(model, meanwhile) {
      await running?.store.close();
      await running?.gateway.stop(0).catch(() => undefined);
      if (meanwhile) {
        const store = openSqliteStore(join(home, 'state.db'));
        await meanwhile(store);
        await store.close();
      }
      running = await start(model);
    },
    async dispose() {
      await running?.gateway.stop(2_000);
      await running?.store.close();
      await rm(home, { recursive: true, force: true });
      if (errors.length > 0) throw errors[0];
    },
  };
}
