import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  cloudInstallId,
  isOwnerAlive,
  ownerMark,
  sandboxName,
} from '../../../../tools/environments/cloud-owner.ts';

describe('whose a sandbox in the cloud is', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cloud-owner-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('an installation has one random name, kept private, also when two processes ask at once', async () => {
    const options = { sandboxFolder: join(folder, 'deep') };
    const ids = await Promise.all([
      cloudInstallId(options),
      cloudInstallId(options),
      cloudInstallId(options),
    ]);
    expect(new Set([...ids, await cloudInstallId(options)]).size).toBe(1);
    expect((await stat(join(folder, 'deep', 'cloud-id'))).mode & 0o777).toBe(0o600);
    expect(await cloudInstallId({ sandboxFolder: folder })).not.toBe(ids[0]);
  });

  test('a process with the pid of a dead gateway is not taken for it', async () => {
    expect(await isOwnerAlive(await ownerMark())).toBe(true);
    expect(await isOwnerAlive(`${process.pid}-1`)).toBe(process.platform !== 'linux');
    expect(await isOwnerAlive('999999999-1')).toBe(false);
    expect(await isOwnerAlive('garbage')).toBe(false);
    expect(await isOwnerAlive(undefined)).toBe(false);
  });

  test('a task with colons makes a name that services take', () => {
    expect(sandboxName('abc', { taskId: 'agent:Main:x_y' })).toBe('hermes-abc-agent-main-x-y');
  });

  test('long tasks that begin alike have short names of their own', () => {
    const names = ['a', 'b'].map((end) =>
      sandboxName('0123456789ab', { taskId: `${'agent:'.repeat(20)}${end}` }, '-suffix'),
    );
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name.length).toBeLessThanOrEqual(63);
  });
});
