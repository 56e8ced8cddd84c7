import type { Log } from '../../src/log.ts';
import type { BackendName } from './environment.ts';

/** How environments are made: plain data that `terminal:` of the configuration maps onto, and the secrets of the env. */
export interface TerminalOptions {
  backend: BackendName;
  /** Where sessions start; `~` and relative paths are the user's home on this machine, the backend's own elsewhere. */
  cwd: string;
  lifetimeMs: number;
  envPassthrough: readonly string[];
  /** For `local`: `bwrap` makes everything outside the working folder read-only and cuts the network. */
  sandbox: 'none' | 'bwrap';
  /** Where backends keep what should persist. Default: `<home>/sandboxes`. */
  sandboxFolder: string;
  container: ContainerLimits;
  docker: DockerOptions;
  ssh: SshOptions;
  singularity: SingularityOptions;
  daytona: DaytonaOptions;
  modal: ModalOptions;
  vercel: VercelOptions;
}

export interface ContainerLimits {
  /** 0: no limit. */
  cpus: number;
  memoryMegabytes: number;
  diskMegabytes: number;
  /** Keep files and the container from one use to the next. */
  persistent: boolean;
}

export interface DockerOptions {
  image: string;
  /** A `unix://`, `tcp://` or `ssh://` address. Default: `DOCKER_HOST`, then the usual sockets of Docker and podman. */
  host?: string;
  volumes: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Names of variables of the gateway that are handed in. */
  forwardEnv: readonly string[];
  extraArgs: readonly string[];
  network: boolean;
  mountCwdToWorkspace: boolean;
  runAsHostUser: boolean;
}

export interface SshOptions {
  host: string;
  user: string;
  port: number;
  /** File of the private key; then no other key is offered. */
  key?: string;
  passphrase?: string;
  /** `user@host:port` of a host to go through. */
  jump?: string;
  /** Default: `~/.ssh/known_hosts`. */
  knownHosts?: string;
  /** What to do with a host that is not known yet. A changed key is always refused. */
  hostKeys: 'accept-new' | 'strict';
}

export interface SingularityOptions {
  image: string;
  binary?: string;
  scratchFolder?: string;
}

export interface ModalOptions {
  /** The name of an image in a registry. */
  image: string;
}

export interface DaytonaOptions {
  /** The name of an image, or `snapshot:NAME`. */
  image: string;
}

export interface VercelOptions {
  /** node24, node22 or python3.13. */
  runtime: string;
}

/** What every backend is told besides its options. */
export interface OpenContext {
  /** Which environment: sanitised for names and paths by the backend. */
  taskId: string;
  /** Tells this installation from others on the same engine. */
  installId: string;
  log: Log;
  /** The gateway's environment variables. */
  env: Readonly<Record<string, string | undefined>>;
  /** For people: an image being pulled, a snapshot being restored. */
  onProgress?: (text: string) => void;
}

/** Task ids hold colons and worse; names of containers and folders may not. */
export function safeName(text: string): string {
  return (
    text
      .replace(/[^A-Za-z0-9_.-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 60) || 'default'
  );
}
