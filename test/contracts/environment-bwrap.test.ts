import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { checkBwrap } from '../../tools/environments/bwrap.ts';
import { createLocalEnvironment } from '../../tools/environments/local.ts';
import { ensurePackage } from '../support/packages.ts';
import { environmentContract } from './environment-contract.ts';

const canRun =
  (await ensurePackage('bubblewrap')) &&
  (await checkBwrap().then(
    () => true,
    () => false,
  ));

describe.skipIf(!canRun)('needs bubblewrap and user namespaces', () => {
  environmentContract('local in bubblewrap', async () => {
    const root = await mkdtemp(join(tmpdir(), 'contract-bwrap-'));
    const environment = await createLocalEnvironment({ cwd: root, temporaryRoot: root, sandbox: 'bwrap' });
    return {
      environment,
      folder: join(root, 'work'),
      shell: 'bash',
      background: { stdin: true, pty: true },
      async leftovers() {
        const left = (await readdir(root)).filter((name) => name !== 'work');
        await rm(root, { recursive: true });
        return left;
      },
    };
  });

  describe('the sandbox', async () => {
    const root = await mkdtemp(join(tmpdir(), 'sandbox-bwrap-'));
    const environment = await createLocalEnvironment({ cwd: root, sandbox: 'bwrap' });
    const exec = (command: string) =>
      environment.exec({ command, sessionId: 's', timeoutMs: 10_000, signal: new AbortController().signal });
    afterAll(async () => {
      await environment.close();
      await rm(root, { recursive: true });
    });

    test('writes inside the working folder only', async () => {
      expect((await exec('echo in >file && cat file')).stdout).toBe('in\n');
      expect(await readFile(join(root, 'file'), 'utf8')).toBe('in\n');
      const outside = join(homedir(), '.hermes-bwrap-test');
      expect(await exec(`echo out >${outside}`)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('Read-only file system'),
      });
    });

    test('has no network', async () => {
      const result = await exec('cat /proc/net/dev | grep -c :');
      // The loopback alone.
      expect(result.stdout).toBe('1\n');
    });
  });
});
