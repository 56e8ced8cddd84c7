import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { createSingularityEnvironment, reapSingularity } from '../../tools/environments/singularity.ts';
import { ensurePackage } from '../support/packages.ts';
import { createSingularityStandIn, type SingularityStandIn } from '../support/singularity.ts';
import { testOptions } from '../support/terminal-options.ts';
import { environmentContract } from './environment-contract.ts';

const canRun =
  process.platform === 'linux' && process.getuid?.() === 0 && (await ensurePackage('busybox-static'));

describe.skipIf(!canRun)('needs busybox-static and unshare, as root', () => {
  let standIn: SingularityStandIn;
  let sandboxes: string;

  beforeAll(async () => {
    standIn = await createSingularityStandIn();
    sandboxes = await mkdtemp(join(tmpdir(), 'contract-singularity-'));
  });
  afterAll(async () => {
    await standIn.remove();
    await rm(sandboxes, { recursive: true });
  });

  const optionsOf = (persistent: boolean) =>
    testOptions(sandboxes, {
      singularity: { image: standIn.image, binary: standIn.binary },
      container: { persistent },
    });
  const context = { taskId: 'task:1', installId: 'contract', log: silentLog, env: process.env };
  const instances = () => readdir(join(standIn.folder, 'state')).catch(() => []);

  environmentContract('singularity, by the stand-in', async () => ({
    environment: await createSingularityEnvironment(optionsOf(true), context),
    folder: '/workspace/contract',
    shell: 'sh',
    background: { stdin: true, pty: true },
    leftovers: instances,
  }));

  test('a machine without the program is told so with the mend', async () => {
    const options = testOptions(sandboxes, { singularity: { image: 'x', binary: '/nowhere/apptainer' } });
    await expect(createSingularityEnvironment(options, context)).rejects.toMatchObject({
      code: 'environment_unavailable',
      mend: expect.stringContaining('Install Apptainer'),
    });
  });

  test('files of a persistent instance outlive it', async () => {
    const first = await createSingularityEnvironment(optionsOf(true), context);
    await first.files.write('/workspace/note', Buffer.from('kept'));
    await first.close();
    const second = await createSingularityEnvironment(optionsOf(true), context);
    expect(Buffer.from(await second.files.read('/workspace/note')).toString()).toBe('kept');
    expect(await reapSingularity(optionsOf(true), context)).toEqual([]);
    await second.close();
  });
});
