import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TerminalOptions } from '../../../tools/environments/options.ts';
import type { ProcessNotice } from '../../../tools/environments/process-table.ts';
import { bashImage, busyboxImage, type PrivateDocker, startDocker } from '../../support/docker.ts';
import { ensurePackage } from '../../support/packages.ts';
import { killedGateway, openProcessGateway } from '../../support/process-gateway.ts';
import { type PrivateSshd, startSshd } from '../../support/sshd.ts';
import { testOptions } from '../../support/terminal-options.ts';
import { memoryProcessStore } from '../../unit/tools/environments/memory-process-store.ts';

/** The field's report: background jobs lost, or zombies, after a restart of the gateway. */
const hasDocker =
  process.getuid?.() === 0 && (await ensurePackage('docker.io')) && (await ensurePackage('busybox-static'));
const hasSshd = await ensurePackage('openssh-server');
const never = new AbortController().signal;
const patience = { timeout: 30_000, interval: 50 };

function restartSuite(
  name: string,
  canRun: boolean,
  place: () => { options: TerminalOptions; folder: string },
) {
  describe.skipIf(!canRun)(name, () => {
    let installs = 0;

    /** A gateway that was killed with these commands running, and the one after it. */
    async function restarted(commands: readonly string[]) {
      installs += 1;
      const installId = `restart${process.pid}x${installs}`;
      const { options, folder } = place();
      const { store, rows } = await killedGateway({ options, installId, commands });
      const notices: ProcessNotice[] = [];
      const gateway = openProcessGateway(options, installId, store, (notice) => notices.push(notice));
      const environment = await gateway.environments.for('default');
      const file = (path: string) => environment.files.stat(join(folder, path));
      await gateway.table.restore();
      return { ...gateway, environment, file, store, notices, installId, ids: rows.map(({ id }) => id) };
    }

    test('goes on, with its log, its exit code and one notice', async () => {
      const { folder } = place();
      const gateway = await restarted([
        `echo before; until [ -e ${folder}/go ]; do sleep 0.1; done; echo after; exit 7`,
      ]);
      const [id = ''] = gateway.ids;
      expect(gateway.table.find('s', id)).toMatchObject({ status: 'running', detached: true });
      await vi.waitUntil(() => gateway.table.output(id).includes('before'), patience);
      await gateway.environment.files.write(join(folder, 'go'), Buffer.from(''));
      expect(await gateway.table.wait(id, 30_000, never)).toBe('exited');
      await vi.waitUntil(() => gateway.notices.length > 0, patience);
      expect(gateway.table.find('s', id)).toMatchObject({ exitCode: 7 });
      expect(gateway.table.output(id)).toBe('before\nafter\n');
      expect(gateway.notices.map(({ text }) => text)).toEqual([expect.stringContaining('exit code 7')]);
      const third = openProcessGateway(place().options, gateway.installId, gateway.store, () => {
        throw new Error('told twice');
      });
      await third.table.restore();
      expect(third.table.find('s', id)).toMatchObject({ status: 'exited', exitCode: 7 });
      await gateway.environment.files.remove(join(folder, 'go'));
      await gateway.environments.close();
    }, 90_000);

    test('that ended while no gateway ran is told with its exit code, once', async () => {
      const { folder } = place();
      const { options } = place();
      const { store, rows } = await killedGateway({
        options,
        installId: 'meanwhile',
        commands: [`until [ -e ${folder}/end ]; do sleep 0.1; done; echo over; exit 3`],
      });
      const notices: ProcessNotice[] = [];
      const gateway = openProcessGateway(options, 'meanwhile', store, (notice) => notices.push(notice));
      const environment = await gateway.environments.for('default');
      await environment.files.write(join(folder, 'end'), Buffer.from(''));
      await gateway.table.restore();
      const id = rows[0]?.id ?? '';
      expect(await gateway.table.wait(id, 30_000, never)).toBe('exited');
      await vi.waitUntil(() => notices.length > 0, patience);
      expect(notices.map(({ text }) => text)).toEqual([expect.stringMatching(/exit code 3.*over/s)]);
      await environment.files.remove(join(folder, 'end'));
      await gateway.environments.close();
    }, 90_000);

    test('is killed with all that it started, and leaves no folder', async () => {
      const { folder } = place();
      const gateway = await restarted([
        `sleep 300 & echo $! >${folder}/child; setsid sleep 300 & echo $! >${folder}/apart; wait`,
      ]);
      const [id = ''] = gateway.ids;
      await vi.waitUntil(async () => ((await gateway.file('apart'))?.bytes ?? 0) > 0, patience);
      const exec = (command: string) =>
        gateway.environment.exec({ command, sessionId: 's', timeoutMs: 20_000, signal: never });
      const alive = `for p in $(cat ${folder}/child ${folder}/apart); do kill -0 $p 2>/dev/null && echo up; done; true`;
      expect((await exec(alive)).stdout).toBe('up\nup\n');
      expect(await gateway.table.kill(id)).toMatchObject({ killed: true, survivors: [] });
      await vi.waitUntil(async () => (await exec(alive)).stdout === '', patience);
      expect(gateway.table.find('s', id)?.status).toBe('exited');
      expect((await exec('ls -a /tmp')).stdout).not.toMatch(
        new RegExp(`hermes-(?:${gateway.installId}.)?job-`),
      );
      await gateway.environments.close();
    }, 90_000);

    test('goes on over an orderly stop too', async () => {
      const { options } = place();
      const store = memoryProcessStore();
      const first = openProcessGateway(options, `orderly${process.pid}`, store);
      const { id } = await first.start('echo begun; sleep 300');
      await first.environments.close();
      expect(store.rows.get(id)?.status).toBe('running');
      const second = openProcessGateway(options, `orderly${process.pid}`, store);
      await second.table.restore();
      await vi.waitUntil(() => second.table.output(id) === 'begun\n', patience);
      expect(await second.table.kill(id)).toMatchObject({ killed: true });
      await second.environments.close();
    }, 90_000);

    test('goes on although it prints more than any pipe holds while nobody reads', async () => {
      const gateway = await restarted([
        'sleep 1; i=0; while [ $i -lt 60000 ]; do echo "line $i of many"; i=$((i+1)); done; echo last; sleep 300',
      ]);
      const [id = ''] = gateway.ids;
      await vi.waitUntil(() => gateway.table.output(id).endsWith('last\n'), patience);
      expect(gateway.table.output(id)).toContain('line 59999 of many\nlast\n');
      expect(await gateway.table.kill(id)).toMatchObject({ killed: true });
      await gateway.environments.close();
    }, 90_000);
  });
}

describe('a background process after a stop or a kill -9 of the gateway', () => {
  let sshd: PrivateSshd;
  let docker: PrivateDocker;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'restart-'));
    if (hasSshd) sshd = await startSshd();
    if (hasDocker) docker = await startDocker();
  }, 120_000);
  afterAll(async () => {
    if (hasSshd) await sshd.stop();
    if (hasDocker) await docker.stop();
    await rm(folder, { recursive: true });
    const left = (await readdir('/tmp')).filter((name) => name.startsWith(`.hermes-restart${process.pid}x`));
    expect(left).toEqual([]);
  }, 60_000);

  restartSuite('on ssh (needs openssh-server)', hasSshd, () => {
    const { port, key, knownHosts } = sshd;
    const ssh = { host: '127.0.0.1', user: userInfo().username, port, key, knownHosts };
    return { options: testOptions(folder, { backend: 'ssh', ssh }), folder };
  });

  for (const image of [busyboxImage, bashImage]) {
    restartSuite(`in docker, ${image} (needs docker.io and busybox-static, as root)`, hasDocker, () => ({
      options: testOptions(folder, {
        backend: 'docker',
        docker: { image, host: docker.host },
        container: { persistent: true },
      }),
      folder: '/workspace',
    }));
  }
});
