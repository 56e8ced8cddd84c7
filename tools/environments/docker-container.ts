import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type Docker from 'dockerode';
import { GatewayError } from '../../src/errors.ts';
import { ownerMark } from './cloud-owner.ts';
import { createLimited } from './docker-disk.ts';
import { ask, statusOf } from './docker-engine.ts';
import { extraHostConfig } from './docker-extra-args.ts';
import { ensureImage } from './docker-image.ts';
import { type OpenContext, safeName, type TerminalOptions } from './options.ts';

/** Labels by which this installation knows its containers again, and leaves those of others alone. */
export const labels = {
  install: 'hermes.gateway.install',
  task: 'hermes.gateway.task',
  settings: 'hermes.gateway.settings',
  owner: 'hermes.gateway.owner',
  persistent: 'hermes.gateway.persistent',
} as const;

const megabyte = 1024 * 1024;

/** Ends at once on TERM; `--init` reaps what is orphaned inside. */
const idle = ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 3600 & wait $!; done'];

const tmpfs = {
  '/tmp': 'rw,nosuid,exec,size=512m',
  '/var/tmp': 'rw,nosuid,noexec,size=256m',
  '/run': 'rw,nosuid,noexec,size=64m',
};

export interface ContainerPlan {
  name: string;
  body: Docker.ContainerCreateOptions;
  /** A folder of the host can be changed from inside. */
  reachesHost: boolean;
  workspace: string;
  /** 0: no limit. Not part of the body, since few engines can enforce it. */
  diskMegabytes: number;
}

/** Everything about the container but its variables, which go with each command: creation would log them. */
export async function planContainer(options: TerminalOptions, context: OpenContext): Promise<ContainerPlan> {
  const { docker, container: limits } = options;
  const { binds, reachesHost, tmpfsAlso } = await mounts(options, context);
  const host: Docker.HostConfig = {
    Init: true,
    CapDrop: ['ALL'],
    CapAdd: ['DAC_OVERRIDE', 'CHOWN', 'FOWNER'],
    SecurityOpt: ['no-new-privileges'],
    PidsLimit: 256,
    Tmpfs: { ...tmpfs, ...tmpfsAlso },
    ShmSize: 1024 * megabyte,
    Binds: binds,
    NetworkMode: docker.network ? 'default' : 'none',
    Memory: limits.memoryMegabytes * megabyte,
    ...(limits.cpus > 0 && { NanoCpus: Math.round(limits.cpus * 1e9) }),
    ...extraHostConfig(docker.extraArgs),
  };
  const shape = { Image: docker.image, HostConfig: host, ...hostUser(docker.runAsHostUser) };
  const settings = createHash('sha256').update(JSON.stringify(shape)).digest('hex').slice(0, 16);
  const suffix = limits.persistent ? '' : `-${process.pid.toString(36)}${Date.now().toString(36)}`;
  return {
    name: `hermes-${context.installId}-${safeName(context.taskId)}${suffix}`,
    reachesHost,
    workspace: '/workspace',
    diskMegabytes: limits.diskMegabytes,
    body: {
      ...shape,
      Entrypoint: idle,
      Cmd: [],
      WorkingDir: '/workspace',
      Labels: {
        [labels.install]: context.installId,
        [labels.task]: context.taskId,
        [labels.settings]: settings,
        [labels.owner]: await ownerMark(),
        [labels.persistent]: String(limits.persistent),
      },
    },
  };
}

function hostUser(asHostUser: boolean): { User?: string } {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  return asHostUser && uid !== undefined ? { User: `${uid}:${gid ?? uid}` } : {};
}

async function mounts(options: TerminalOptions, context: OpenContext) {
  const { docker, container, sandboxFolder, cwd } = options;
  const volumes = docker.volumes.flatMap((spec) => {
    const problem = volumeProblem(spec);
    if (problem === null) return [spec];
    context.log.warn({ volume: spec }, `A docker volume is skipped: ${problem}`);
    return [];
  });
  const own: string[] = [];
  const tmpfsAlso: Record<string, string> = {};
  if (docker.mountCwdToWorkspace) own.push(`${cwd}:/workspace`);
  if (container.persistent) {
    const folder = join(sandboxFolder, 'docker', safeName(context.taskId));
    for (const [name, inside] of [
      ['home', '/root'],
      ['workspace', '/workspace'],
    ] as const) {
      if (name === 'workspace' && docker.mountCwdToWorkspace) continue;
      await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
      own.push(`${join(folder, name)}:${inside}`);
    }
  } else {
    tmpfsAlso['/root'] = 'rw,exec,size=1g';
    if (!docker.mountCwdToWorkspace) tmpfsAlso['/workspace'] = 'rw,exec,size=1g';
  }
  const reachesHost = docker.mountCwdToWorkspace || volumes.some((spec) => isAbsolute(spec));
  return { binds: [...own, ...volumes], reachesHost, tmpfsAlso };
}

const volumeShape = /^(?:\/|[A-Za-z0-9][\w.-]*:)[^:]*(?::\/[^:]+)?(?::[a-zA-Z,]+)?$/;

/** `host:inside[:mode]` with absolute paths, or `name:inside[:mode]` of a named volume. */
function volumeProblem(spec: string): string | null {
  const [from = '', inside = ''] = spec.split(':');
  if (!volumeShape.test(spec) || !inside.startsWith('/')) return 'it is not "/host/folder:/folder[:ro]"';
  if (/\.sock$|^\/(?:var\/)?run(?:\/|$)/.test(from)) return 'a socket of the host would undo the isolation';
  if (from === '/' || from === homedir()) return 'the whole file system or home of the host would be open';
  return null;
}

/** A running container as planned: the one that is there, started if need be, or a new one. */
export async function ensureContainer(
  engine: Docker,
  plan: ContainerPlan,
  context: OpenContext,
): Promise<Docker.Container> {
  const existing = engine.getContainer(plan.name);
  const found = await ask('look for the container', existing.inspect()).catch((error) => {
    if (statusOf(error) === 404) return null;
    throw error;
  });
  if (found !== null) {
    const isOurs = found.Config.Labels[labels.install] === context.installId;
    if (!isOurs) {
      throw new GatewayError(
        'environment_refused',
        `A container named ${plan.name} belongs to someone else.`,
        {
          mend: `Rename or remove it: docker rm -f ${plan.name}`,
        },
      );
    }
    const isCurrent = found.Config.Labels[labels.settings] === plan.body.Labels?.[labels.settings];
    if (isCurrent) {
      if (!found.State.Running) await ask('start the container', existing.start());
      return existing;
    }
    await ask('replace the container', existing.remove({ force: true, v: true }));
  }
  await ensureImage(engine, plan.body.Image ?? '', { onProgress: context.onProgress });
  const body = { name: plan.name, ...plan.body };
  const container = await createLimited(engine, body, plan.diskMegabytes, context.log);
  await ask('start the container', container.start(), 60_000);
  return container;
}
