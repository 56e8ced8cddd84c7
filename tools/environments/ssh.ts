import { randomBytes } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import { isOwnerAlive, ownerMark } from './cloud-owner.ts';
import { commandTags, machineMark } from './command-tags.ts';
import type { Environment } from './environment.ts';
import { type OpenContext, safeName, type TerminalOptions } from './options.ts';
import { reapCommands } from './reap-commands.ts';
import { createRemoteJobs } from './remote-jobs.ts';
import { createShellEnvironment } from './shell-environment.ts';
import { rawRun } from './shell-files.ts';
import { connectSsh } from './ssh-connection.ts';
import { createSshFiles } from './ssh-files.ts';
import { createSshPool } from './ssh-pool.ts';
import { createSshTransport } from './ssh-transport.ts';

const probeMs = 15_000;

/** Commands on another host, as the user there; approvals are the guard, as on this machine. */
export async function createSshEnvironment(
  options: TerminalOptions,
  context: OpenContext,
): Promise<Environment> {
  if (options.ssh.host === '' || options.ssh.user === '') {
    throw new GatewayError('environment_refused', 'The ssh backend needs a host and a user.', {
      mend: 'Set TERMINAL_SSH_HOST and TERMINAL_SSH_USER.',
    });
  }
  const pool = createSshPool(() => connectSsh(options.ssh, context));
  const transport = createSshTransport(pool, await commandTags(safeName(context.installId)));
  const prefix = `/tmp/.hermes-${safeName(context.installId)}-`;
  const folderPrefix = `/tmp/.hermes-${safeName(context.installId)}.job-`;
  const jobs = createRemoteJobs({ transport, folderPrefix, outlive: true });
  try {
    const probe = await rawRun(
      transport,
      { argv: ['sh', '-c', probeScript, 'sh', prefix, folderPrefix] },
      probeMs,
    );
    const [home = '/', shell = 'sh', ...folders] = probe.stdout.toString('utf8').split('\n');
    const stateFolder = `${prefix}${machineMark()}-${await ownerMark()}-${randomBytes(6).toString('hex')}`;
    const left = await leftFolders(folders, prefix);
    if (left.length > 0) await rawRun(transport, { argv: ['rm', '-rf', '--', ...left] }, probeMs);
    return createShellEnvironment({
      backend: 'ssh',
      isolated: false,
      home,
      defaultCwd: isAbsolute(options.cwd) ? options.cwd : home,
      shell: shell === 'bash' ? 'bash' : 'sh',
      stateFolder,
      transport,
      files: createSshFiles(pool, transport),
      spawn: jobs.start,
      adopt: jobs.adopt,
      async prepare() {
        await rawRun(transport, { argv: ['mkdir', '-p', '-m', '700', stateFolder] }, probeMs);
      },
      async close() {
        jobs.abandon();
        try {
          await rawRun(transport, { argv: ['rm', '-rf', stateFolder] }, probeMs);
        } catch (error) {
          context.log.warn(
            { error: errorMessage(error), stateFolder },
            'Shell state stays on the ssh host for a day.',
          );
        } finally {
          pool.close();
        }
      },
    });
  } catch (error) {
    pool.close();
    throw error;
  }
}

/** Ends what a killed gateway of this installation left running on the host. */
export async function reapSsh(
  options: TerminalOptions,
  context: Pick<OpenContext, 'installId' | 'env' | 'log'>,
): Promise<string[]> {
  const installId = safeName(context.installId);
  const pool = createSshPool(() => connectSsh(options.ssh, { ...context, taskId: 'reaper' }));
  const transport = createSshTransport(pool, await commandTags(installId));
  try {
    const run = async (argv: readonly string[]) => (await rawRun(transport, { argv }, probeMs)).stdout;
    return await reapCommands(async (argv) => (await run(argv)).toString('utf8'), installId);
  } finally {
    pool.close();
  }
}

/** Shell state of gateways that were killed on this machine. */
async function leftFolders(folders: readonly string[], prefix: string): Promise<string[]> {
  const left: string[] = [];
  for (const folder of folders) {
    const owner = new RegExp(`^${machineMark()}-(\\d+-\\d*)-[0-9a-f]+$`).exec(
      folder.slice(prefix.length),
    )?.[1];
    if (folder.startsWith(prefix) && owner !== undefined && !(await isOwnerAlive(owner))) left.push(folder);
  }
  return left;
}

/**
 * Tells the shell state that is there, and removes what a gateway of this installation left behind more than a day
 * ago and nothing uses any more.
 */
const probeScript = `printf '%s\\n' "$HOME"; command -v bash >/dev/null && echo bash || echo sh
for d in "$1"*; do [ ! -O "$d" ] || echo "$d"; done
find /tmp -maxdepth 1 -user "$(id -u)" -name "\${1#/tmp/}*" -mtime +1 -exec rm -rf {} + 2>/dev/null
find /tmp -maxdepth 1 -user "$(id -u)" -name "\${2#/tmp/}*" -mtime +1 -exec sh -c '
kill -0 "$(cat "$1/pid")" || rm -rf "$1"' sh {} \\; 2>/dev/null; true`;
