import { join } from 'node:path';
import type { TerminalOptions } from '../../tools/environments/options.ts';
import type { Config } from '../config/schema.ts';

/** `terminal:` of the configuration in the words of the environments. Empty texts mean "not set". */
export function terminalOptionsOf({ terminal }: Config, home: string): TerminalOptions {
  return {
    backend: terminal.backend,
    cwd: terminal.cwd,
    lifetimeMs: terminal.lifetime_seconds * 1000,
    envPassthrough: terminal.env_passthrough,
    sandbox: terminal.sandbox,
    sandboxFolder: terminal.sandbox_dir || join(home, 'sandboxes'),
    container: {
      cpus: terminal.container_cpu,
      memoryMegabytes: terminal.container_memory,
      diskMegabytes: terminal.container_disk,
      persistent: terminal.container_persistent,
    },
    docker: {
      image: terminal.docker_image,
      ...(terminal.docker_host !== '' && { host: terminal.docker_host }),
      volumes: terminal.docker_volumes,
      env: terminal.docker_env,
      forwardEnv: terminal.docker_forward_env,
      extraArgs: terminal.docker_extra_args,
      network: terminal.docker_network,
      mountCwdToWorkspace: terminal.docker_mount_cwd_to_workspace,
      runAsHostUser: terminal.docker_run_as_host_user,
    },
    ssh: {
      host: terminal.ssh_host,
      user: terminal.ssh_user,
      port: terminal.ssh_port,
      hostKeys: terminal.ssh_host_keys,
      ...(terminal.ssh_key !== '' && { key: terminal.ssh_key }),
      ...(terminal.ssh_passphrase !== '' && { passphrase: terminal.ssh_passphrase }),
      ...(terminal.ssh_jump !== '' && { jump: terminal.ssh_jump }),
      ...(terminal.ssh_known_hosts !== '' && { knownHosts: terminal.ssh_known_hosts }),
    },
    daytona: { image: terminal.daytona_image },
    modal: { image: terminal.modal_image },
    vercel: { runtime: terminal.vercel_runtime },
    singularity: {
      image: terminal.singularity_image,
      ...(terminal.singularity_binary !== '' && { binary: terminal.singularity_binary }),
      ...(terminal.scratch_dir !== '' && { scratchFolder: terminal.scratch_dir }),
    },
  };
}
