import { join } from 'node:path';
import type { Platform } from '../../platforms/platform.ts';
import { noHooks } from '../../tools/hooks.ts';
import type { PreviewExec } from '../approvals/preview/exec.ts';
import { systemClock } from '../clock.ts';
import { addToList, removeFromList, setConfigValue } from '../config/edit.ts';
import type { LoadedConfig } from '../config/load.ts';
import { watchConfig } from '../config/watch.ts';
import { GatewayError } from '../errors.ts';
import { createGateway, type Gateway, type GatewayObserver } from '../gateway/gateway.ts';
import { createPairing } from '../gateway/pairing.ts';
import { createSessionTools } from '../gateway/turn/session-tools.ts';
import type { Log } from '../log.ts';
import { createModel } from '../model/index.ts';
import { createEmbeddedQueue } from '../queue/embedded.ts';
import { createMetrics, type Metrics } from '../server/metrics.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { Store } from '../store/store.ts';
import { openBackends, type SandboxUse } from './backends.ts';
import type { Loaded } from './load.ts';
import { observerFor } from './observe.ts';
import { loadTools } from './tool-registry.ts';
import { unknownToolsets } from './unknown-toolsets.ts';

export interface Assembled {
  gateway: Gateway;
  store: Store;
  metrics: Metrics;
  platforms: ReadonlyMap<string, Platform>;
  config(): LoadedConfig['config'];
  /** Frees everything that `assemble` opened; the gateway must have been stopped. */
  close(): Promise<void>;
}

export interface AssembleOptions {
  loaded: Loaded;
  log: Log;
  /** Another file than `<home>/config.yaml`. */
  configFile?: string;
  /** Another database than `<home>/state.db`. */
  statePath?: string;
  /** Given the store: adapters keep small things there. */
  platforms(store: Store): Promise<ReadonlyMap<string, Platform>>;
  /** Toolsets of the command line. */
  toolsets?: readonly string[];
  flags?: Record<string, unknown>;
  sandbox?: SandboxUse;
  yolo: boolean;
  onChange(): void;
  onTurnEnded?: GatewayObserver['turnEnded'];
  /** An admin asked for a restart in a chat. */
  onRestart?: () => void;
}

/** Sessions worked on at once: turns mostly wait for a model, so far more than there are cores. */
const defaultConcurrency = 64;

/** Opens the real parts and puts the gateway together from them. */
export async function assemble(options: AssembleOptions): Promise<Assembled> {
  const { loaded, log } = options;
  const { home } = loaded;
  const clock = systemClock;
  let { config } = loaded;
  let model = createModel({ config, log, clock });
  const current = () => config;

  const store = openSqliteStore(options.statePath ?? join(home, 'state.db'));
  const [registry, platforms] = await Promise.all([
    loadTools(home, log, config.tools.strict_collisions),
    options.platforms(store),
  ]);
  const metrics = createMetrics();
  const loadOptions = {
    home,
    env: process.env,
    ...(options.configFile !== undefined && { file: options.configFile }),
    ...(options.flags && { flags: options.flags }),
  };
  const watch = watchConfig({
    load: loadOptions,
    loaded,
    clock,
    onChange(next) {
      config = next.config;
      model = createModel({ config, log, clock });
      log.info('the configuration changed and is in force for new turns');
    },
    onBroken: (error) =>
      log.error({ mend: error.mend }, `the last good configuration stays in force: ${error.message}`),
  });

  const backends = openBackends({
    home,
    env: loaded.env,
    store,
    config: current,
    log,
    clock,
    notify: (sessionId, text, key) => gateway.notify(sessionId, text, key),
    ...(options.sandbox && { sandbox: options.sandbox }),
  });
  const sessionTools = createSessionTools({
    registry,
    log,
    config: current,
    env: loaded.env,
    cli: options.toolsets ?? [],
  });
  for (const name of platforms.keys()) {
    const unknown = unknownToolsets(sessionTools, name);
    if (unknown === null) continue;
    if (options.toolsets?.length) throw new GatewayError('usage', unknown);
    log.warn(unknown);
  }
  const gateway = createGateway({
    home,
    config: current,
    store,
    queue: createEmbeddedQueue({
      concurrency: config.limits.max_concurrent_sessions ?? defaultConcurrency,
      onError: (session, error) => log.error({ session, err: error }, 'a session could not be worked on'),
    }),
    clock,
    log,
    platforms,
    model: () => model,
    registry,
    hooks: noHooks,
    sessionTools,
    processes: backends.processes,
    environmentFor: backends.environmentFor,
    forgetSession: backends.forgetSession,
    pairing: createPairing(home, clock),
    allowlist: {
      async add(entries) {
        await addToList(loadOptions, 'command_allowlist', entries);
        await watch.reload();
      },
      async forget(entry) {
        const found = await removeFromList(loadOptions, 'command_allowlist', entry);
        await watch.reload();
        return found;
      },
    },
    async setHome(session) {
      const { platform, chatId, threadId } = session.chat;
      await setConfigValue(loadOptions, `${platform}.home_channel`, chatId);
      if (threadId !== undefined)
        await setConfigValue(loadOptions, `${platform}.home_channel_thread_id`, threadId);
      await watch.reload();
    },
    async preview({ session, signal }, subject, judgement) {
      if (subject.kind !== 'command') return null;
      const { previewReach } = await import('../approvals/preview/preview.ts');
      const environment = await backends.environmentFor(session);
      const look: PreviewExec = (argv, options) => environment.run(argv, options);
      const { cwd, home } = subject;
      return (await previewReach(subject.command, judgement, look, signal, { cwd, home }))?.text ?? null;
    },
    async smart(subject, judgement, signal) {
      if (subject.kind !== 'command') return 'escalate';
      const { smartJudge } = await import('../approvals/smart.ts');
      const policy = config.approvals.smart_policy;
      return smartJudge(
        { command: subject.command, judgement, policy },
        (messages) => askOnce(messages, signal),
        signal,
      );
    },
    yolo: options.yolo,
    observe: observerFor(metrics, options),
    ...(options.onRestart && { requestRestart: options.onRestart }),
  });

  async function askOnce(
    messages: Parameters<typeof model.complete>[0]['messages'],
    signal: AbortSignal,
  ): Promise<string> {
    return (await model.complete({ messages, tools: [], signal, temperature: 0, maxTokens: 16 })).text;
  }

  return {
    gateway,
    store,
    metrics,
    platforms,
    config: current,
    async close() {
      watch.close();
      await backends.close();
      await store.close();
    },
  };
}
