import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import { isOwnerAlive, ownerMark } from './cloud-owner.ts';
import { commandTags } from './command-tags.ts';
import type { Environment } from './environment.ts';
import { createFifos } from './fifos.ts';
import { createLocalTransport, type Wrap } from './local-transport.ts';
import { type OpenContext, safeName, type TerminalOptions } from './options.ts';
import { makeOwnedFolder } from './owned-folder.ts';
import { tagVariable } from './process-tree.ts';
import { startOnMachine } from './pty.ts';
import { createShellEnvironment } from './shell-environment.ts';
import { createShellFiles, rawRun } from './shell-files.ts';

const run = promisify(execFile);
const versionMs = 10_000;
const buildMs = 600_000;
const startMs = 120_000;
const probeMs = 20_000;
const workspace = '/workspace';

/** An instance of Apptainer (once Singularity) per task, driven by its command line. */
export async function createSingularityEnvironment(
  options: TerminalOptions,
  context: OpenContext,
): Promise<Environment> {
  const binary = await findBinary(options.singularity.binary);
  const name = `${instancePrefix(context.installId)}${safeName(context.taskId)}-${await ownerMark()}`;
  const base = join(options.singularity.scratchFolder ?? options.sandboxFolder, 'singularity');
  await startInstance(binary, name, base, options, context);
  const folder = await makeOwnedFolder(tmpdir(), 'hermes-singularity');
  const env = {
    PATH: context.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: context.env['HOME'] ?? '/',
  };
  // Started in `/` of this machine: the folder that counts is the one inside.
  const wrap: Wrap = (argv, { tag, cwd }) => ({
    argv: [
      binary,
      'exec',
      '--cleanenv',
      '--pwd',
      cwd,
      `instance://${name}`,
      'env',
      `${tagVariable}=${tag}`,
      ...argv,
    ],
    cwd: '/',
  });
  const newTag = await commandTags(safeName(context.installId));
  const place = { fifos: createFifos(folder), folder, cwd: '/', env, newTag, wrap };
  const transport = createLocalTransport(place);

  async function close(): Promise<void> {
    await rm(folder, { recursive: true, force: true });
    await run(binary, ['instance', 'stop', name], { timeout: startMs });
  }

  try {
    const probe = await rawRun(transport, { argv: ['sh', '-c', probeScript, 'sh', workspace] }, probeMs);
    const [home = '/', shell = 'sh'] = probe.stdout.toString('utf8').split('\n');
    const stateFolder = `/tmp/.hermes-${randomBytes(6).toString('hex')}`;
    return createShellEnvironment({
      backend: 'singularity',
      isolated: true,
      home,
      defaultCwd:
        isAbsolute(options.cwd) && !/^\/(?:Users|home)\//.test(options.cwd) ? options.cwd : workspace,
      shell: shell === 'bash' ? 'bash' : 'sh',
      stateFolder,
      transport,
      files: createShellFiles(transport),
      spawn: (argv, how) => startOnMachine(argv, how, place),
      async prepare() {
        await rawRun(transport, { argv: ['mkdir', '-p', '-m', '700', stateFolder] }, probeMs);
      },
      close,
    });
  } catch (error) {
    await close().catch((second) => {
      context.log.warn({ error: errorMessage(second) }, 'An instance that failed to start was not stopped.');
    });
    throw error;
  }
}

const probeScript = `mkdir -p "$1"; printf '%s\\n' "\${HOME:-/}"; command -v bash >/dev/null && echo bash || echo sh`;

const instancePrefix = (installId: string) => `hermes-${safeName(installId)}-`;

async function findBinary(chosen: string | undefined): Promise<string> {
  const names = chosen === undefined || chosen === '' ? ['apptainer', 'singularity'] : [chosen];
  for (const name of names) {
    const works = await run(name, ['--version'], { timeout: versionMs }).then(
      () => true,
      () => false,
    );
    if (works) return name;
  }
  throw new GatewayError('environment_unavailable', `Neither of ${names.join(', ')} runs on this machine.`, {
    mend: 'Install Apptainer (apptainer.org), or choose another terminal backend.',
  });
}

async function startInstance(
  binary: string,
  name: string,
  base: string,
  options: TerminalOptions,
  context: OpenContext,
): Promise<void> {
  const { cpus, memoryMegabytes, persistent } = options.container;
  const overlay = join(base, safeName(context.taskId), 'overlay');
  if (persistent) await mkdir(overlay, { recursive: true, mode: 0o700 });
  const image = await cachedImage(binary, options.singularity.image, base, context);
  const args = [
    ...['instance', 'start', '--containall', '--no-home'],
    ...(persistent ? ['--overlay', overlay] : ['--writable-tmpfs']),
    ...(memoryMegabytes > 0 ? ['--memory', `${memoryMegabytes}M`] : []),
    ...(cpus > 0 ? ['--cpus', String(cpus)] : []),
    image,
    name,
  ];
  try {
    await run(binary, args, { timeout: startMs });
  } catch (error) {
    throw new GatewayError('environment_unavailable', `The instance did not start: ${errorMessage(error)}`, {
      mend: 'Try it by hand. Limits need cgroups: set terminal.container_memory and container_cpu to 0 without them.',
      cause: error,
    });
  }
}

/** A registry's image is built into a file once; where that fails the address itself is used. */
async function cachedImage(
  binary: string,
  image: string,
  base: string,
  context: OpenContext,
): Promise<string> {
  if (!image.includes('://')) return image;
  const folder = join(base, 'images');
  const file = join(folder, `${createHash('sha256').update(image).digest('hex').slice(0, 20)}.sif`);
  if ((await stat(file).catch(() => null)) !== null) return file;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  context.onProgress?.(`Building the image ${image} …`);
  const half = `${file}.${process.pid}.part`;
  try {
    await run(binary, ['build', half, image], { timeout: buildMs });
    await run('mv', ['-f', half, file]);
    return file;
  } catch (error) {
    context.log.warn({ image, error: errorMessage(error) }, 'The image was not built; its address is used.');
    await rm(half, { force: true });
    return image;
  }
}

/** Stops instances of this installation whose gateway is gone. Resolves with their names. */
export async function reapSingularity(
  options: TerminalOptions,
  context: Pick<OpenContext, 'installId'>,
): Promise<string[]> {
  const binary = await findBinary(options.singularity.binary);
  const { stdout } = await run(binary, ['instance', 'list'], { timeout: startMs });
  const names = stdout.split('\n').map((line) => line.trim().split(/\s+/)[0] ?? '');
  const left: string[] = [];
  for (const name of names.filter((each) => each.startsWith(instancePrefix(context.installId)))) {
    const owner = /-(\d+-\d*)$/.exec(name)?.[1];
    if (owner === undefined || (await isOwnerAlive(owner))) continue;
    await run(binary, ['instance', 'stop', name], { timeout: startMs });
    left.push(name);
  }
  return left;
}
