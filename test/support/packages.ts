import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const installMs = 300_000;

/** The programs that show that a Debian package is there. */
const programOf = {
  'docker.io': 'dockerd',
  'openssh-server': 'sshd',
  bubblewrap: 'bwrap',
  'busybox-static': 'busybox',
} as const;

export type PackageName = keyof typeof programOf;

/**
 * True when the package is there. Where it may (root on Debian, with `CI` or `HERMES_INSTALL_SERVICES` set, as
 * `npm test -- --install-services` does), it is installed first. Where it may not, its tests skip themselves by name.
 */
export async function ensurePackage(name: PackageName): Promise<boolean> {
  if ((await findProgram(programOf[name])) !== null) return true;
  const mayInstall =
    process.getuid?.() === 0 &&
    (process.env['CI'] !== undefined || process.env['HERMES_INSTALL_SERVICES'] !== undefined) &&
    (await findProgram('apt-get')) !== null;
  if (!mayInstall) return false;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // A fresh machine has no package lists.
  await run('apt-get', ['update', '-qq'], { env, timeout: installMs });
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], {
    env,
    timeout: installMs,
  });
  return (await findProgram(programOf[name])) !== null;
}

/** Where a program is, also in the folders of administrators; null when nowhere. */
export async function findProgram(name: string): Promise<string | null> {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin', '/usr/local/sbin'];
  for (const folder of folders) {
    const path = `${folder}/${name}`;
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return null;
}
