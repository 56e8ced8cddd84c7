import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface GatewayProcess {
  home: string;
  port: number;
  url: string;
  /** The address that the start prints, with the token. */
  openUrl: string;
  pid: number;
  /** Everything written to stderr so far: the log. */
  log(): string;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Resolves with the exit code once it ended by itself, or with null when a signal ended it. */
  died(): Promise<number | null>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Starts again on the same home, after `kill` or `stop`. */
  restart(): Promise<void>;
  dispose(): Promise<void>;
}

export interface GatewayProcessOptions {
  env?: Record<string, string>;
  home?: string;
  args?: string[];
  /** Whether to wait until it is ready; a test of a failing start does not. Default true. */
  ready?: boolean;
}

const readyWithinMs = 20_000;

/** The gateway as its users run it: a process of its own on a temporary home. */
export async function startGatewayProcess(options: GatewayProcessOptions = {}): Promise<GatewayProcess> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), 'hermes-e2e-')));
  const port = await freePort();
  let child: ChildProcess;
  let log = '';
  let out = '';

  async function start(): Promise<void> {
    out = '';
    child = spawn(process.execPath, ['bin/hermes-gateway.js', 'start', ...(options.args ?? [])], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: home,
        HERMES_HOME: home,
        GATEWAY_PORT: String(port),
        ...options.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    if (options.ready !== false) await untilReady(child);
  }

  async function untilReady(started: ChildProcess): Promise<void> {
    const deadline = Date.now() + readyWithinMs;
    while (Date.now() < deadline && started.exitCode === null && started.signalCode === null) {
      const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
        (response) => response.ok,
        () => false,
      );
      if (ready) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`the gateway did not become ready:\n${log}`);
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    await gone;
    return child.exitCode;
  }

  await start();
  return {
    home,
    port,
    url: `http://127.0.0.1:${port}`,
    get openUrl() {
      return /http:\/\/\S+token=\S+/.exec(out)?.[0] ?? '';
    },
    get pid() {
      return child.pid ?? -1;
    },
    log: () => log,
    async kill() {
      await end('SIGKILL');
    },
    async died() {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      return child.exitCode;
    },
    stop: () => end('SIGTERM'),
    restart: start,
    async dispose() {
      await end('SIGKILL');
      await rm(home, { recursive: true, force: true });
    },
  };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}
