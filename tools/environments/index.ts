import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { BackendName, Environment } from './environment.ts';
import type { OpenContext, TerminalOptions } from './options.ts';

type Open = (options: TerminalOptions, context: OpenContext) => Promise<Environment>;

/** One line a backend; each is loaded when it is chosen. */
const backends: Readonly<Record<BackendName, Open>> = {
  local: async (options, context) => openLocal(options, context),
  docker: async (options, context) => (await import('./docker.ts')).createDockerEnvironment(options, context),
  ssh: async (options, context) => (await import('./ssh.ts')).createSshEnvironment(options, context),
  singularity: async (options, context) =>
    (await import('./singularity.ts')).createSingularityEnvironment(options, context),
  modal: async (options, context) => (await import('./modal.ts')).createModalEnvironment(options, context),
  daytona: async (options, context) =>
    (await import('./daytona.ts')).createDaytonaEnvironment(options, context),
  vercel_sandbox: async (options, context) =>
    (await import('./vercel.ts')).createVercelEnvironment(options, context),
};

/** Opens the environment that the options choose. Rejects with a `GatewayError` that tells the mend. */
export async function openEnvironment(options: TerminalOptions, context: OpenContext): Promise<Environment> {
  return backends[options.backend](options, context);
}

type Reach = (context: Pick<OpenContext, 'env' | 'log'>) => Promise<string>;

/**
 * Services that take money for a sandbox and minutes to make the first one. Whoever only wants to know whether one is
 * set up asks it that, and what is tried there is thrown away.
 */
const reaches: Readonly<Partial<Record<BackendName, Reach>>> = {
  modal: async (context) => (await import('./modal.ts')).reachModal(context),
  daytona: async ({ env }) => (await import('./daytona.ts')).reachDaytona(env),
  vercel_sandbox: async ({ env }) => (await import('./vercel.ts')).reachVercel(env),
};

/** Asks a paid service whether it takes the credentials; resolves with what to tell. Null for other backends. */
export const reachOf = (backend: BackendName): Reach | null => reaches[backend] ?? null;

async function openLocal(options: TerminalOptions, context: OpenContext): Promise<Environment> {
  const { createLocalEnvironment } = await import('./local.ts');
  return createLocalEnvironment({
    cwd: localFolder(options.cwd),
    env: context.env,
    envPassthrough: options.envPassthrough,
    sandbox: options.sandbox,
    installId: context.installId,
  });
}

function localFolder(cwd: string): string {
  if (cwd === '~' || cwd.startsWith('~/')) return join(homedir(), cwd.slice(1));
  return isAbsolute(cwd) ? cwd : resolve(homedir(), cwd);
}

/** Removes what killed gateways of this installation left on the backend; nothing of anybody else. */
export async function reapLeftovers(
  options: TerminalOptions,
  context: Pick<OpenContext, 'installId' | 'env' | 'log'>,
): Promise<string[]> {
  if (options.backend === 'local') return (await import('./local.ts')).reapLocal(context.installId);
  if (options.backend === 'ssh') return (await import('./ssh.ts')).reapSsh(options, context);
  if (options.backend === 'docker') return (await import('./docker.ts')).reapDocker(options, context);
  if (options.backend === 'singularity') {
    return (await import('./singularity.ts')).reapSingularity(options, context);
  }
  if (options.backend === 'modal') return (await import('./modal.ts')).reapModal(options, context);
  if (options.backend === 'daytona') return (await import('./daytona.ts')).reapDaytona(options, context);
  if (options.backend === 'vercel_sandbox') return (await import('./vercel.ts')).reapVercel(options, context);
  return [];
}

/** Names an installation by its home, for labels and folders. */
export function installIdOf(home: string): string {
  return createHash('sha256').update(resolve(home)).digest('hex').slice(0, 10);
}
