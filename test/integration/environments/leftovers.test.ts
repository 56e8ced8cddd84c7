import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../../src/log.ts';
import { reapLeftovers } from '../../../tools/environments/index.ts';
import type { TerminalOptions } from '../../../tools/environments/options.ts';
import { busyboxImage, type PrivateDocker, startDocker } from '../../support/docker.ts';
import { ensurePackage, findProgram } from '../../support/packages.ts';
import { killedGateway, openProcessGateway } from '../../support/process-gateway.ts';
import { createSingularityStandIn, type SingularityStandIn } from '../../support/singularity.ts';
import { type PrivateSshd, startSshd } from '../../support/sshd.ts';
import { testOptions } from '../../support/terminal-options.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const hasBusybox = await ensurePackage('busybox-static');
const hasDocker = isRoot && hasBusybox && (await ensurePackage('docker.io'));
const hasSshd = await ensurePackage('openssh-server');
const hasUnshare = isRoot && hasBusybox && (await findProgram('unshare')) !== null;

/** No other process of the machine sleeps for just so long. */
const secondsOf = (kind: number) => `${86_400 + kind}.${process.pid}`;

/** Of this machine, those in containers among them. */
async function sleepers(seconds: string): Promise<number[]> {
  const { stdout } = await run('pgrep', ['-fx', `sleep ${seconds}`]).catch(() => ({ stdout: '' }));
  return stdout.split('\n').filter(Boolean).map(Number);
}

/** Of gateways of this machine in their folder for temporary files, and on hosts in theirs. */
async function folders(installId: string): Promise<string[]> {
  const own = (await readdir(tmpdir())).filter((name) => name.startsWith('hermes-s'));
  return [...own, ...(await readdir('/tmp')).filter((name) => name.includes(installId))];
}

function leavesNothing(name: string, canRun: boolean, optionsOf: () => TerminalOptions): void {
  describe.skipIf(!canRun)(name, () => {
    const installId = `left${process.pid}${name.replace(/\W.*/, '')}`;
    const context = { installId, log: silentLog, env: process.env };

    test('a kill -9 in the middle of a command leaves nothing after the next start', async () => {
      const options = optionsOf();
      const [running, child, waiting] = [1, 2, 3].map(secondsOf);
      const { store } = await killedGateway({
        options,
        installId,
        foreground: `sleep ${child} & sleep ${running}`,
        commands: [`sleep ${waiting}`],
      });
      await reapLeftovers(options, context);
      const next = openProcessGateway(options, installId, store);
      await next.environments.for('default');
      await next.table.restore();
      for (const seconds of [running, child]) {
        await vi.waitUntil(async () => (await sleepers(seconds ?? '')).length === 0, 20_000);
      }
      await next.table.killSession('s');
      expect(await sleepers(waiting ?? '')).toEqual([]);
      await next.environments.close();
      expect(await folders(installId)).toEqual([]);
    }, 60_000);

    test('what a finished command left behind on purpose is not ended', async () => {
      const options = optionsOf();
      const server = secondsOf(4);
      await killedGateway({ options, installId, foreground: `(sleep ${server} &) ; exit 0` });
      await reapLeftovers(options, context);
      // What is thrown away with its gateway takes all with it.
      const goesOn =
        options.backend === 'docker' ? options.container.persistent : options.backend !== 'singularity';
      const left = await sleepers(server);
      expect(left).toHaveLength(goesOn ? 1 : 0);
      for (const pid of left) process.kill(pid);
      const last = openProcessGateway(
        options,
        installId,
        (await killedGateway({ options, installId })).store,
      );
      await last.environments.for('default');
      await last.environments.close();
    }, 60_000);
  });
}

describe('what a killed gateway leaves', () => {
  let folder: string;
  let temporary: string;
  let sshd: PrivateSshd;
  let docker: PrivateDocker;
  let singularity: SingularityStandIn;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'leftovers-'));
    if (hasSshd) sshd = await startSshd();
    if (hasDocker) docker = await startDocker();
    if (hasUnshare) singularity = await createSingularityStandIn();
    temporary = await mkdtemp(join(tmpdir(), 'leftovers-tmp-'));
    vi.stubEnv('TMPDIR', temporary);
  }, 120_000);
  afterAll(async () => {
    vi.unstubAllEnvs();
    await rm(temporary, { recursive: true });
    if (hasSshd) await sshd.stop();
    if (hasDocker) await docker.stop();
    if (hasUnshare) await singularity.remove();
    await rm(folder, { recursive: true });
  }, 60_000);

  leavesNothing('local', true, () => testOptions(folder, { cwd: folder }));

  leavesNothing('ssh (needs openssh-server)', hasSshd, () => {
    const { port, key, knownHosts } = sshd;
    const ssh = { host: '127.0.0.1', user: userInfo().username, port, key, knownHosts };
    return testOptions(folder, { backend: 'ssh', ssh });
  });

  for (const persistent of [true, false]) {
    const kind = persistent ? 'kept' : 'thrown away';
    leavesNothing(`docker, ${kind} (needs docker.io and busybox-static, as root)`, hasDocker, () =>
      testOptions(folder, {
        backend: 'docker',
        docker: { image: busyboxImage, host: docker.host },
        container: { persistent },
      }),
    );
  }

  leavesNothing('singularity (needs unshare and busybox-static, as root)', hasUnshare, () =>
    testOptions(folder, {
      backend: 'singularity',
      singularity: { image: singularity.image, binary: singularity.binary },
    }),
  );
});
