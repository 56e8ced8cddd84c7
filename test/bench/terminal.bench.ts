import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import Docker from 'dockerode';
import { silentLog } from '../../src/log.ts';
import { handleFunctionCall } from '../../tools/dispatch.ts';
import { createDockerEnvironment } from '../../tools/environments/docker.ts';
import type { Environment } from '../../tools/environments/environment.ts';
import { createLocalEnvironment } from '../../tools/environments/local.ts';
import { createSshEnvironment } from '../../tools/environments/ssh.ts';
import { connectSsh } from '../../tools/environments/ssh-connection.ts';
import type { ToolContext } from '../../tools/tool.ts';
import '../../tools/terminal.ts';
import { busyboxImage, startDocker } from '../support/docker.ts';
import { ensurePackage } from '../support/packages.ts';
import { startSshd } from '../support/sshd.ts';
import { testOptions } from '../support/terminal-options.ts';

/**
 * What a command through the terminal tool costs over the bare thing, medians of 200 in one run, in milliseconds.
 * Run by hand: node test/bench/terminal.bench.ts
 */
const rounds = 200;
const warmUp = 20;
/** From the issue: what each backend may cost over its bare command. */
const budgetsMs = { local: 6, ssh: 8, docker: 15 } as const;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** The two take turns, so that a busy moment of the machine hits both. */
async function compare(bare: () => Promise<unknown>, ours: () => Promise<unknown>) {
  const times = { bare: [] as number[], ours: [] as number[] };
  for (let round = -warmUp; round < rounds; round += 1) {
    const [bareMs, oursMs] = [await timed(bare), await timed(ours)];
    if (round < 0) continue;
    times.bare.push(bareMs);
    times.ours.push(oursMs);
  }
  const [bareMs, oursMs] = [median(times.bare), median(times.ours)];
  return { bareMs: round2(bareMs), terminalMs: round2(oursMs), overheadMs: round2(oursMs - bareMs) };
}

const round2 = (value: number) => Math.round(value * 100) / 100;

function throughTerminal(environment: Environment): () => Promise<unknown> {
  const context: ToolContext = {
    taskId: 'bench',
    sessionId: 'bench',
    toolCallId: 'bench',
    userTask: '',
    enabledTools: [],
    signal: new AbortController().signal,
    log: silentLog,
    home: tmpdir(),
    config: {
      terminal: { timeoutMs: 180_000, maxForegroundTimeoutMs: 600_000 },
      toolOutput: { maxBytes: 50_000, maxLines: 2_000, maxLineLength: 2_000 },
      memory: { enabled: false, userProfileEnabled: false, memoryChars: 0, userChars: 0 },
      writeSafeRoots: [],
    },
    environment: async () => environment,
    processes: {
      start: () => Promise.reject(new Error('not here')),
      find: () => null,
      list: () => [],
      output: () => '',
      wait: async () => 'exited',
      consume: async () => undefined,
      write: async () => 'exited',
      closeInput: async () => 'exited',
      kill: async () => ({ killed: false, alreadyExited: true, survivors: [] }),
      killSession: async () => 0,
    },
    approve: async () => ({ approved: true }),
    activity: () => undefined,
  };
  return async () => {
    const result = await handleFunctionCall('terminal', { command: 'echo hi' }, context);
    if (typeof result !== 'string' || !result.includes('"output":"hi\\n"')) throw new Error(String(result));
  };
}

async function benchLocal() {
  const environment = await createLocalEnvironment();
  const bare = () =>
    new Promise((resolve) => {
      const child = spawn('bash', ['-c', 'echo hi'], { stdio: ['ignore', 'pipe', 'pipe'] });
      child.stdout.resume();
      child.stderr.resume();
      child.once('close', resolve);
    });
  const result = await compare(bare, throughTerminal(environment));
  await environment.close();
  return result;
}

async function benchSsh() {
  const sshd = await startSshd();
  const { port, key, knownHosts } = sshd;
  const options = testOptions(sshd.folder, {
    ssh: { host: '127.0.0.1', user: userInfo().username, port, key, knownHosts },
  });
  const context = { taskId: 'bench', installId: 'bench', log: silentLog, env: {} };
  const client = await connectSsh(options.ssh, context);
  const bare = () =>
    new Promise<void>((resolve, reject) => {
      client.exec('echo hi', (error, channel) => {
        if (error) return reject(error);
        channel.once('close', () => resolve());
        channel.resume();
        channel.end();
      });
    });
  const environment = await createSshEnvironment(options, context);
  const result = await compare(bare, throughTerminal(environment));
  await environment.close();
  client.end();
  await sshd.stop();
  return result;
}

async function benchDocker() {
  const docker = await startDocker();
  const folder = await mkdtemp(join(tmpdir(), 'bench-docker-'));
  const options = testOptions(folder, {
    docker: { image: busyboxImage, host: docker.host },
    container: { persistent: false },
  });
  const context = { taskId: 'bench', installId: 'bench', log: silentLog, env: {} };
  const environment = await createDockerEnvironment(options, context);
  const client = new Docker({ socketPath: docker.host.slice('unix://'.length) });
  const [info] = await client.listContainers();
  const container = client.getContainer(info?.Id ?? '');
  const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  async function bare(): Promise<void> {
    const exec = await container.exec({ Cmd: ['echo', 'hi'], AttachStdout: true, AttachStderr: true });
    const stream = await exec.start({});
    client.modem.demuxStream(stream, nowhere(), nowhere());
    await new Promise((resolve) => stream.once('end', resolve));
    await exec.inspect();
  }
  const result = await compare(bare, throughTerminal(environment));
  await environment.close();
  await docker.stop();
  await rm(folder, { recursive: true });
  return result;
}

const isRoot = process.getuid?.() === 0;
const figures: Record<string, unknown> = { rounds, budgetsMs, local: await benchLocal() };
if (await ensurePackage('openssh-server')) figures['ssh'] = await benchSsh();
if (isRoot && (await ensurePackage('docker.io')) && (await ensurePackage('busybox-static'))) {
  figures['docker'] = await benchDocker();
}
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
