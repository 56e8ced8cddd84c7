import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { createDockerEnvironment } from '../../tools/environments/docker.ts';
import { labels } from '../../tools/environments/docker-container.ts';
import { bashImage, busyboxImage, type PrivateDocker, startDocker } from '../support/docker.ts';
import { ensurePackage } from '../support/packages.ts';
import { testOptions } from '../support/terminal-options.ts';
import { environmentContract } from './environment-contract.ts';

const canRun =
  process.getuid?.() === 0 && (await ensurePackage('docker.io')) && (await ensurePackage('busybox-static'));

describe.skipIf(!canRun)('needs docker.io and busybox-static, as root', () => {
  let docker: PrivateDocker;
  let sandboxes: string;

  beforeAll(async () => {
    docker = await startDocker();
    sandboxes = await mkdtemp(join(tmpdir(), 'contract-docker-'));
  }, 120_000);
  afterAll(async () => {
    await docker.stop();
    await rm(sandboxes, { recursive: true });
  }, 60_000);

  for (const { name, image, shell, persistent } of [
    { name: 'docker, busybox, kept', image: busyboxImage, shell: 'sh', persistent: true },
    { name: 'docker, bash, thrown away', image: bashImage, shell: 'bash', persistent: false },
  ] as const) {
    environmentContract(name, async () => {
      const options = testOptions(sandboxes, {
        docker: { image, host: docker.host, network: false },
        container: { persistent },
      });
      const context = { taskId: `agent:main:${name}`, installId: 'contract', log: silentLog, env: {} };
      return {
        environment: await createDockerEnvironment(options, context),
        folder: '/workspace/contract',
        shell,
        background: { stdin: true, pty: true },
        async leftovers() {
          const containers = await docker.client.listContainers({ all: true });
          const unwanted = containers.filter(
            ({ State, Labels }) => State === 'running' || Labels[labels.persistent] === 'false',
          );
          return unwanted.map(({ Names }) => Names.join());
        },
      };
    });
  }
});
