import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { promisify } from 'node:util';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { Wrap } from './local-transport.ts';

const probeMs = 5_000;

/**
 * Puts each program of the local backend into a sandbox of bubblewrap: the file system is read-only except the
 * working folder and the shell's state, `/tmp` is its own, and there is no network. The process tree stays visible to
 * the gateway, which ends commands as without a sandbox.
 */
export function bwrapCommand(options: { writable: readonly string[] }): Wrap {
  const writable = options.writable
    .map((path) => realpathSync(path))
    .flatMap((path) => ['--bind', path, path]);
  const sandbox = [
    'bwrap',
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', ...writable],
    ...['--unshare-net', '--unshare-ipc', '--'],
  ];
  return (argv, { cwd }) => ({ argv: [...sandbox, ...argv], cwd });
}

/** Rejects with the mend when bubblewrap is missing or the kernel forbids it. */
export async function checkBwrap(): Promise<void> {
  try {
    await promisify(execFile)('bwrap', ['--ro-bind', '/', '/', '--unshare-net', '--', 'true'], {
      timeout: probeMs,
    });
  } catch (error) {
    throw new GatewayError(
      'environment_unavailable',
      `bubblewrap cannot make a sandbox: ${errorMessage(error)}`,
      {
        mend: 'Install it (apt-get install bubblewrap) and allow user namespaces (sysctl kernel.unprivileged_userns_clone=1), or set terminal.sandbox to none.',
        cause: error,
      },
    );
  }
}
