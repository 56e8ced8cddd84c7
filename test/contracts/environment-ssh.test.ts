import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { createSshEnvironment } from '../../tools/environments/ssh.ts';
import { ensurePackage } from '../support/packages.ts';
import { type PrivateSshd, startSshd } from '../support/sshd.ts';
import { testOptions } from '../support/terminal-options.ts';
import { environmentContract } from './environment-contract.ts';

const canRun = await ensurePackage('openssh-server');

describe.skipIf(!canRun)('needs openssh-server', () => {
  let sshd: PrivateSshd;
  let folder: string;

  beforeAll(async () => {
    sshd = await startSshd();
    folder = await mkdtemp(join(tmpdir(), 'contract-ssh-'));
  }, 60_000);
  afterAll(async () => {
    await sshd.stop();
    await rm(folder, { recursive: true });
  });

  environmentContract('ssh', async () => {
    const { port, key, knownHosts } = sshd;
    const options = testOptions(folder, {
      ssh: { host: '127.0.0.1', user: userInfo().username, port, key, knownHosts },
    });
    const context = { taskId: 'default', installId: `contract${port}`, log: silentLog, env: {} };
    return {
      environment: await createSshEnvironment(options, context),
      folder,
      shell: 'bash',
      background: { stdin: true, pty: true },
      leftovers: async () =>
        (await readdir('/tmp')).filter((name) => name.startsWith(`.hermes-contract${port}`)),
    };
  });
});
