import { randomBytes } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { Environment } from './environment.ts';
import { type OpenContext, safeName, type TerminalOptions } from './options.ts';
import { startRemoteBackground } from './remote-background.ts';
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
  const transport = createSshTransport(pool);
  const prefix = `/tmp/.hermes-${safeName(context.installId)}-`;
  try {
    const probe = await rawRun(transport, { argv: ['sh', '-c', probeScript, 'sh', prefix] }, probeMs);
    const [home = '/', shell = 'sh'] = probe.stdout.toString('utf8').split('\n');
    const stateFolder = prefix + randomBytes(6).toString('hex');
    return createShellEnvironment({
      backend: 'ssh',
      isolated: false,
      home,
      defaultCwd: isAbsolute(options.cwd) ? options.cwd : home,
      shell: shell === 'bash' ? 'bash' : 'sh',
      stateFolder,
      transport,
      files: createSshFiles(pool, transport),
      spawn: (argv, how) => startRemoteBackground(transport, argv, how),
      async prepare() {
        await rawRun(transport, { argv: ['mkdir', '-p', '-m', '700', stateFolder] }, probeMs);
      },
      async close() {
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

/** Also removes the state that a gateway of this installation left behind more than a day ago. */
const probeScript = `printf '%s\\n' "$HOME"; command -v bash >/dev/null && echo bash || echo sh
find /tmp -maxdepth 1 -user "$(id -u)" -name "\${1#/tmp/}*" -mtime +1 -exec rm -rf {} + 2>/dev/null; true`;
