import { z } from 'zod';
import { block, choiceWithOff, entries, flag, id, list, port, positive, seconds, text } from './fields.ts';

const image = 'nikolaik/python-nodejs:python3.11-nodejs20';

export const BACKENDS = [
  'local',
  'docker',
  'ssh',
  'singularity',
  'modal',
  'daytona',
  'vercel_sandbox',
] as const;

export const terminal = block({
  backend: z.enum(BACKENDS).default('local'),
  cwd: text.default('.'),
  timeout: positive.default(180),
  max_foreground_timeout: positive.default(600),
  lifetime_seconds: seconds.default(300),
  env_passthrough: list.default([]),
  sandbox: choiceWithOff(['none', 'bwrap'], 'none').default('none'),
  persistent_shell: flag.default(true),
  oneshot_completion_wait_seconds: seconds.default(600),
  docker_host: text.default(''),
  docker_image: text.default(image),
  docker_forward_env: list.default([]),
  docker_env: z.record(text, id).default({}),
  docker_volumes: entries.default([]),
  docker_extra_args: entries.default([]),
  docker_network: flag.default(true),
  docker_mount_cwd_to_workspace: flag.default(false),
  docker_run_as_host_user: flag.default(false),
  ssh_host: text.default(''),
  ssh_user: text.default(''),
  ssh_port: port.default(22),
  ssh_key: text.default(''),
  ssh_passphrase: text.default(''),
  ssh_jump: text.default(''),
  ssh_known_hosts: text.default(''),
  ssh_host_keys: z.enum(['accept-new', 'strict']).default('strict'),
  singularity_binary: text.default(''),
  singularity_image: text.default(`docker://${image}`),
  sandbox_dir: text.default(''),
  scratch_dir: text.default(''),
  modal_image: text.default(image),
  daytona_image: text.default(image),
  vercel_runtime: z.enum(['node24', 'node22', 'python3.13']).default('node24'),
  container_cpu: z.number().min(0).default(1),
  container_memory: positive.default(5120),
  container_disk: positive.default(51_200),
  container_persistent: flag.default(true),
}).prefault({});
