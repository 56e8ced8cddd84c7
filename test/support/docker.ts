import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { findProgram } from './packages.ts';

const run = promisify(execFile);

/** A Docker engine of the tests' own: nothing on the machine is used or changed. */
export interface PrivateDocker {
  /** For `DOCKER_HOST`. */
  host: string;
  client: Docker;
  /** Its containers stop with it. */
  stopEngine(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Image of busybox alone: a POSIX `sh`, no bash. */
export const busyboxImage = 'hermes-test-busybox:1';
/** Image with bash and coreutils of this machine. */
export const bashImage = 'hermes-test-bash:1';

export async function startDocker(): Promise<PrivateDocker> {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-dockerd-'));
  const socket = join(folder, 'docker.sock');
  const client = new Docker({ socketPath: socket });
  let engine: ChildProcess | null = null;

  async function start(): Promise<void> {
    const log = await open(join(folder, 'log'), 'a');
    const program = (await findProgram('dockerd')) ?? 'dockerd';
    const args = ['--data-root', 'data', '--exec-root', 'exec', '--pidfile', 'pid', '-H', `unix://${socket}`];
    const alone = ['--bridge', 'none', '--iptables=false', '--ip6tables=false', '--storage-driver', 'vfs'];
    engine = spawn(program, [...args.map((arg) => absolute(folder, arg)), ...alone], {
      stdio: ['ignore', log.fd, log.fd],
    });
    await log.close();
    await untilAnswers(client);
  }

  async function end(): Promise<void> {
    const child = engine;
    engine = null;
    if (child === null || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await gone;
  }

  await start();
  await importImage(folder, client, busyboxImage, buildBusyboxRoot);
  await importImage(folder, client, bashImage, buildBashRoot);
  return {
    host: `unix://${socket}`,
    client,
    start,
    stopEngine: end,
    async stop() {
      for (const { Id } of await client.listContainers({ all: true })) {
        await client.getContainer(Id).remove({ force: true });
      }
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const absolute = (folder: string, arg: string) =>
  ['data', 'exec', 'pid'].includes(arg) ? join(folder, arg) : arg;

async function untilAnswers(client: Docker): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await client.ping();
      return;
    } catch (error) {
      if (attempt > 300) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function importImage(
  folder: string,
  client: Docker,
  name: string,
  build: (root: string) => Promise<void>,
): Promise<void> {
  const root = join(folder, 'root');
  await build(root);
  const archive = join(folder, 'root.tar');
  await run('tar', ['-C', root, '-cf', archive, '.']);
  const [repo = '', tag = ''] = name.split(':');
  const stream = await client.importImage(archive, { repo, tag });
  await new Promise<void>((resolve, reject) => {
    client.modem.followProgress(stream, (error) => (error === null ? resolve() : reject(error)));
  });
  await rm(root, { recursive: true });
  await rm(archive);
}

async function buildFolders(root: string): Promise<void> {
  for (const path of ['bin', 'etc', 'root', 'tmp', 'proc', 'dev', 'sys', 'run', 'var/tmp']) {
    await mkdir(join(root, path), { recursive: true });
  }
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
}

/** The root of a system with busybox alone. */
export async function buildBusyboxRoot(root: string): Promise<void> {
  await buildFolders(root);
  const busybox = (await findProgram('busybox')) ?? 'busybox';
  await copyFile(busybox, join(root, 'bin/busybox'));
  const { stdout } = await run(busybox, ['--list']);
  const applets = stdout.split('\n').filter((name) => name !== '' && name !== 'busybox');
  for (const applet of applets) await symlink('busybox', join(root, 'bin', applet));
}

const bashTools =
  'bash sh echo cat ls mkdir rm stat readlink head tail tr grep sleep wc chmod mv ln touch env setsid stty id sed cut pwd printf date seq yes dd tee mkfifo true false kill'.split(
    ' ',
  );

async function buildBashRoot(root: string): Promise<void> {
  await buildFolders(root);
  for (const tool of bashTools) {
    const path = await findProgram(tool);
    if (path === null) continue;
    await copyFile(path, join(root, 'bin', basename(tool)));
    const { stdout } = await run('ldd', [path]).catch(() => ({ stdout: '' }));
    for (const [library] of stdout.matchAll(/\/\S+\.so\S*/g)) {
      await mkdir(join(root, dirname(library)), { recursive: true });
      await copyFile(library, join(root, library));
    }
  }
}
