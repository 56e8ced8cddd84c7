import { randomBytes } from 'node:crypto';
import { isAbsolute } from 'node:path';
import type Docker from 'dockerode';
import { errorMessage } from '../../src/errors.ts';
import { isOwnerAlive } from './cloud-owner.ts';
import { commandTags } from './command-tags.ts';
import { type ContainerPlan, ensureContainer, labels, planContainer } from './docker-container.ts';
import { ask, openEngine, statusOf } from './docker-engine.ts';
import { createDockerTransport } from './docker-transport.ts';
import type { Environment } from './environment.ts';
import type { OpenContext, TerminalOptions } from './options.ts';
import { reapCommands } from './reap-commands.ts';
import { createRemoteJobs } from './remote-jobs.ts';
import { createShellEnvironment } from './shell-environment.ts';
import { createShellFiles, rawRun } from './shell-files.ts';

const probeMs = 20_000;

/** A hardened container per task, kept and found again by its labels. */
export async function createDockerEnvironment(
  options: TerminalOptions,
  context: OpenContext,
): Promise<Environment> {
  const engine = await openEngine(options.docker.host, context.env);
  const plan = await planContainer(options, context);
  const keeper = keepContainer(engine, plan, context);
  const { User: user } = plan.body;
  const transport = createDockerTransport({
    container: keeper.get,
    lost: keeper.lost,
    env: handedIn(options, context),
    newTag: await commandTags(context.installId),
    ...(user !== undefined && { user }),
  });
  try {
    const probe = await rawRun(transport, { argv: ['sh', '-c', probeScript, 'sh', plan.workspace] }, probeMs);
    const [home = '/', shell = 'sh'] = probe.stdout.toString('utf8').split('\n');
    const stateFolder = `/tmp/.hermes-${randomBytes(6).toString('hex')}`;
    const { persistent } = options.container;
    const jobs = createRemoteJobs({ transport, folderPrefix: '/tmp/.hermes-job-', outlive: persistent });
    return createShellEnvironment({
      backend: 'docker',
      isolated: !plan.reachesHost,
      home,
      defaultCwd: insideFolder(options.cwd) ?? plan.workspace,
      shell: shell === 'bash' ? 'bash' : 'sh',
      stateFolder,
      transport,
      files: createShellFiles(transport),
      spawn: jobs.start,
      adopt: jobs.adopt,
      async prepare() {
        await rawRun(transport, { argv: ['mkdir', '-p', '-m', '700', stateFolder] }, probeMs);
      },
      async close() {
        const left = jobs.running();
        jobs.abandon();
        if (!persistent || left === 0) return keeper.close(persistent);
        // Stopping would end them; the next gateway takes them up and stops the container once they are over.
        context.log.info({ processes: left }, 'The container goes on for its background processes.');
      },
    });
  } catch (error) {
    await keeper.close(false).catch((second) => {
      context.log.warn({ error: errorMessage(second) }, 'A container that failed to start was not removed.');
    });
    throw error;
  }
}

const probeScript = `mkdir -p "$1" 2>/dev/null; printf '%s\\n' "\${HOME:-/}"; command -v bash >/dev/null && echo bash || echo sh`;

/** A folder of the host means nothing inside. */
function insideFolder(cwd: string): string | null {
  return isAbsolute(cwd) && !/^\/(?:Users|home)\//.test(cwd) ? cwd : null;
}

function handedIn({ docker }: TerminalOptions, { env }: OpenContext): Record<string, string> {
  const forwarded = docker.forwardEnv.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(forwarded), ...docker.env };
}

/** One container at a time, made once however many commands ask for it. */
function keepContainer(engine: Docker, plan: ContainerPlan, context: OpenContext) {
  let current: Promise<Docker.Container> | null = null;
  const forget = () => {
    current = null;
  };
  return {
    get(): Promise<Docker.Container> {
      current ??= ensureContainer(engine, plan, context).catch((error) => {
        forget();
        throw error;
      });
      return current;
    },
    lost: forget,
    async close(keep: boolean): Promise<void> {
      const container = engine.getContainer(plan.name);
      const done = keep ? container.stop({ t: 1 }) : container.remove({ force: true, v: true });
      await ask('close the container', done, 30_000).catch((error) => {
        // 304: stopped already; 404: gone already.
        const status = statusOf(error);
        if (status !== 304 && status !== 404) throw error;
      });
      forget();
    },
  };
}

/**
 * Removes what earlier runs of this installation left: containers that were not to persist and whose gateway is
 * gone, and stopped ones that nobody used for twice their lifetime. Resolves with the names removed.
 */
export async function reapDocker(
  options: TerminalOptions,
  context: Pick<OpenContext, 'installId' | 'env' | 'log'>,
): Promise<string[]> {
  const engine = await openEngine(options.docker.host, context.env);
  const filters = { label: [`${labels.install}=${context.installId}`] };
  const removed: string[] = [];
  for (const info of await ask('list containers', engine.listContainers({ all: true, filters }))) {
    const container = engine.getContainer(info.Id);
    if (!(await isLeftover(container, info, options.lifetimeMs))) {
      if (info.State === 'running') removed.push(...(await reapInside(container, context)));
      continue;
    }
    try {
      await ask('remove a container', container.remove({ force: true, v: true }), 30_000);
      removed.push(info.Names[0]?.replace(/^\//, '') ?? info.Id);
    } catch (error) {
      context.log.warn(
        { container: info.Id, error: errorMessage(error) },
        'A leftover container was not removed.',
      );
    }
  }
  return removed;
}

/** Commands that a killed gateway left running in a container that goes on. */
async function reapInside(
  container: Docker.Container,
  { installId, log }: Pick<OpenContext, 'installId' | 'log'>,
): Promise<string[]> {
  const transport = createDockerTransport({
    container: async () => container,
    lost: () => undefined,
    env: {},
    newTag: await commandTags(installId),
  });
  const run = async (argv: readonly string[]) => (await rawRun(transport, { argv }, probeMs)).stdout;
  return reapCommands(async (argv) => (await run(argv)).toString('utf8'), installId).catch((error) => {
    log.warn({ container: container.id, error: errorMessage(error) }, 'A container was not looked through.');
    return [];
  });
}

async function isLeftover(
  container: Docker.Container,
  info: Docker.ContainerInfo,
  lifetimeMs: number,
): Promise<boolean> {
  if (info.Labels[labels.persistent] !== 'true') return !(await isOwnerAlive(info.Labels[labels.owner]));
  if (info.State !== 'exited') return false;
  const { State: state } = await ask('inspect a container', container.inspect());
  return Date.now() - Date.parse(state.FinishedAt) > 2 * lifetimeMs;
}
