import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalEnvironment } from '../../tools/environments/local.ts';
import { environmentContract } from './environment-contract.ts';

environmentContract('local', async () => {
  const root = await mkdtemp(join(tmpdir(), 'contract-local-'));
  const folder = join(root, 'work');
  const environment = await createLocalEnvironment({ cwd: root, temporaryRoot: root });
  return {
    environment,
    folder,
    shell: 'bash',
    background: { stdin: true, pty: true },
    async leftovers() {
      const left = (await readdir(root)).filter((name) => name !== 'work');
      await rm(root, { recursive: true });
      return left;
    },
  };
});
