import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { systemClock } from '../clock.ts';
import { isPlatformEnabled } from '../config/views.ts';
import { errorMessage } from '../errors.ts';
import { type Lock, lockHome, lockToken } from '../gateway/locks.ts';
import { createStatusFile, type GatewayState, type GatewayStatus } from '../gateway/status-file.ts';
import { createLog, type Log } from '../log.ts';
import { createGuard, type Guard } from '../server/guard.ts';
import { createServer, type GatewayServer } from '../server/server.ts';
import { loadGatewayToken } from '../server/token.ts';
import { type Assembled, assemble } from './assemble.ts';
import { type Loaded, loadHome, makeHome } from './load.ts';
import type { StartFlags } from './main.ts';
import { openPlatforms } from './platforms.ts';

const statusEveryMs = 10_000;
const compiledAfterMs = 2_000;
/** Tells a supervisor (systemd, Docker) to start the gateway again: EX_TEMPFAIL of sysexits.h. */
const restartExitCode = 75;

/** `start`: runs the gateway until a signal or an admin's `/restart`, then lets what runs come to an end. */
export async function start(flags: StartFlags): Promise<void> {
  const loaded = await loadHome({
    ...(flags.config !== undefined && { file: flags.config }),
    ...(flags.port !== undefined && { flags: { 'gateway.port': flags.port } }),
  });
  await makeHome(loaded.home);
  const log = createLog(loaded.config.log_level);
  for (const warning of loaded.warnings) log.warn(warning);
  const locks = takeLocks(loaded);
  process.on('exit', () => {
    for (const lock of locks) lock.release();
  });
  const restart = Promise.withResolvers<'restart'>();
  const running = await run(loaded, flags, log, () => restart.resolve('restart'));
  const why = await Promise.race([untilSignal(), restart.promise]);
  log.info({ why }, 'stopping: letting what runs come to an end');
  await running.stop(loaded.config.agent.restart_drain_timeout * 1000);
  process.exit(why === 'restart' ? restartExitCode : 0);
}

function takeLocks({ home, config }: Loaded): Lock[] {
  const locks = [lockHome(home)];
  for (const platform of ['telegram', 'discord', 'slack'] as const) {
    if (isPlatformEnabled(config, platform)) locks.push(lockToken(platform, config[platform].token));
  }
  return locks;
}

async function run(
  loaded: Loaded,
  flags: StartFlags,
  log: Log,
  onRestart: () => void,
): Promise<{ stop(graceMs: number): Promise<void> }> {
  const { config, home } = loaded;
  const { host, port } = config.gateway;
  const token = await loadGatewayToken(home, config.gateway.token);
  const guard = createGuard({ token: token.value, host, clock: systemClock });
  let report: (() => void) | null = null;
  const assembled = await assemble({
    loaded,
    log,
    platforms: (store) => openPlatforms({ home, config, guard, log, clock: systemClock, store }),
    ...(flags.config !== undefined && { configFile: flags.config }),
    yolo: flags.yolo ?? process.env['HERMES_YOLO_MODE'] === '1',
    onChange: () => report?.(),
    onRestart,
    ...(flags.port !== undefined && { flags: { 'gateway.port': flags.port } }),
  });
  const server = openServer({ host, port, guard }, assembled, log);
  const status = createStatusFile(home, log);
  let state: GatewayState = 'starting';
  const write = async () => {
    const described = await describe(assembled, server, state);
    for (const { name, state: now } of described.platforms) assembled.metrics.platformState(name, now.state);
    await status.write(described);
  };
  report = throttled(write, 200);
  const ticking = setInterval(() => report?.(), statusEveryMs);

  await server.start();
  announce(loaded, server, token.value);
  log.info({ url: server.url }, 'listening');
  await assembled.gateway.start();
  settle();
  state = 'running';
  report?.();
  return {
    async stop(graceMs) {
      state = 'draining';
      report?.();
      clearInterval(ticking);
      await assembled.gateway.stop(graceMs);
      await server.stop();
      state = 'stopped';
      report = null;
      await status.write(await describe(assembled, server, state));
      await assembled.close();
    },
  };
}

function openServer(
  where: { host: string; port: number; guard: Guard },
  assembled: Assembled,
  log: Log,
): GatewayServer {
  const { gateway, store, metrics, platforms } = assembled;
  metrics.watch('hermes_turns_running', 'Turns that run now.', () => gateway.figures().runningTurns);
  metrics.watch(
    'hermes_sessions_waiting',
    'Sessions that wait for a worker.',
    () => gateway.figures().queueDepth,
  );
  metrics.watch(
    'hermes_outbox_waiting',
    'Messages that wait to be sent.',
    () => gateway.figures().outboxWaiting,
  );
  metrics.watch(
    'hermes_platform_silence_seconds',
    'Time since the quietest connected platform gave a sign of life.',
    () => gateway.supervisor.longestSilenceMs() / 1_000,
  );
  return createServer({
    ...where,
    async notReady() {
      await store.check();
      return gateway.supervisor.unready();
    },
    metrics,
    routes: [...platforms.values()].flatMap((platform) => platform.routes),
    log,
  });
}

/** The one line that a new user needs: where the chat is. The token goes to a terminal, never into a log. */
function announce({ config }: Loaded, server: GatewayServer, token: string): void {
  const url = `${server.url}/?token=${token}`;
  const lines = ['', `  Web chat:  ${url}`];
  const bots = (['telegram', 'discord', 'slack'] as const).filter((name) => isPlatformEnabled(config, name));
  if (bots.length === 0) lines.push('  Add a bot: npm run setup');
  if (config.model.name === 'demo' || (config.model.api_key === '' && config.model.base_url === '')) {
    lines.push('  Model:     the offline demo; set OPENAI_API_KEY for a real one.');
  }
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

async function describe(
  { gateway, store }: Assembled,
  server: GatewayServer,
  state: GatewayState,
): Promise<GatewayStatus> {
  const figures = gateway.figures();
  return {
    pid: process.pid,
    version: process.env['npm_package_version'] ?? '0.1.0',
    gateway_state: state,
    started_at: new Date(Date.now() - process.uptime() * 1000).toISOString(),
    updated_at: new Date().toISOString(),
    url: server.url,
    platforms: gateway.supervisor.health(),
    running_turns: figures.runningTurns,
    sessions: await store.read.sessions.counts(),
    pending_approvals: await store.read.approvals.countPending(),
    queue_depth: figures.queueDepth,
    outbox_depth: figures.outboxWaiting,
  };
}

/**
 * Once started: collect garbage early rather than grow (a quarter less memory under load, at the same speed), and keep the compiled code for the next start, even when this process ends by a kill.
 */
function settle(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=20');
  setTimeout(() => flushCompileCache(), compiledAfterMs).unref();
}

/** At most one call in `everyMs`, the last one never lost. */
function throttled(work: () => Promise<void>, everyMs: number): () => void {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      work().catch((error: unknown) => process.stderr.write(`status: ${errorMessage(error)}\n`));
    }, everyMs);
  };
}

function untilSignal(): Promise<'signal'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('signal'));
  });
}
