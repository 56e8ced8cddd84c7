import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Programs that tests run for real, and the Debian package that brings each. */
const services: { readonly [program: string]: string } = {
  '/usr/bin/chromium': 'chromium',
  '/usr/sbin/sshd': 'openssh-server',
  '/usr/sbin/dockerd': 'docker.io',
  '/bin/busybox': 'busybox-static',
  '/usr/bin/bwrap': 'bubblewrap',
  '/usr/bin/git': 'git',
};

/** Installs what is missing where that is allowed; otherwise says by name what the tests will leave out. */
export function installServices(allowed: boolean): void {
  const missing = Object.entries(services).filter(([program]) => !existsSync(program));
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name);
  const isRootOnDebian = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (!allowed || !isRootOnDebian) {
    process.stdout.write(
      `Not installed, so tests of them are skipped: ${packages.join(', ')} (npm test -- --install-services installs them)\n`,
    );
    return;
  }
  process.stdout.write(`Installing ${packages.join(', ')}\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'inherit', env });
  // No service of the packages may start by itself: tests start private ones.
  spawnSync(
    'apt-get',
    ['install', '-y', '-qq', '--no-install-recommends', '-o', 'Dpkg::Options::=--force-confold', ...packages],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...env, RUNLEVEL: '1' },
    },
  );
}
