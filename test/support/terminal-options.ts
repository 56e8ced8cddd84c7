import type {
  ContainerLimits,
  DaytonaOptions,
  DockerOptions,
  ModalOptions,
  SingularityOptions,
  SshOptions,
  TerminalOptions,
  VercelOptions,
} from '../../tools/environments/options.ts';

export interface OptionChanges {
  backend?: TerminalOptions['backend'];
  cwd?: string;
  lifetimeMs?: number;
  sandbox?: TerminalOptions['sandbox'];
  container?: Partial<ContainerLimits>;
  docker?: Partial<DockerOptions>;
  ssh?: Partial<SshOptions>;
  singularity?: Partial<SingularityOptions>;
  daytona?: Partial<DaytonaOptions>;
  modal?: Partial<ModalOptions>;
  vercel?: Partial<VercelOptions>;
}

/** Options as a configuration would give them, small enough for a test machine. */
export function testOptions(sandboxFolder: string, changes: OptionChanges = {}): TerminalOptions {
  return {
    backend: changes.backend ?? 'local',
    cwd: changes.cwd ?? '.',
    lifetimeMs: changes.lifetimeMs ?? 300_000,
    envPassthrough: [],
    sandbox: changes.sandbox ?? 'none',
    sandboxFolder,
    container: { cpus: 0, memoryMegabytes: 512, diskMegabytes: 0, persistent: true, ...changes.container },
    docker: {
      image: '',
      volumes: [],
      env: {},
      forwardEnv: [],
      extraArgs: [],
      network: false,
      mountCwdToWorkspace: false,
      runAsHostUser: false,
      ...changes.docker,
    },
    ssh: { host: '127.0.0.1', user: 'root', port: 22, hostKeys: 'strict', ...changes.ssh },
    singularity: { image: '', ...changes.singularity },
    modal: { image: 'debian:12', ...changes.modal },
    daytona: { image: 'debian:12', ...changes.daytona },
    vercel: { runtime: 'node24', ...changes.vercel },
  };
}
