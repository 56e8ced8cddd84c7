import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { createVercelEnvironment } from '../../tools/environments/vercel.ts';
import {
  startVercelEmulator,
  type VercelEmulator,
  vercelProject,
  vercelTeam,
  vercelToken,
} from '../emulators/vercel/vercel-emulator.ts';
import { testOptions } from '../support/terminal-options.ts';
import { environmentContract } from './environment-contract.ts';

describe.skipIf(process.platform !== 'linux')('needs /proc', () => {
  let vercel: VercelEmulator;
  let sandboxFolder: string;

  beforeAll(async () => {
    vercel = await startVercelEmulator();
    sandboxFolder = await mkdtemp(join(tmpdir(), 'contract-vercel-'));
  });
  afterAll(async () => {
    await vercel.stop();
    await rm(sandboxFolder, { recursive: true });
    expect(vercel.violations).toEqual([]);
  });

  environmentContract('vercel_sandbox', async () => {
    const env = {
      ...{ VERCEL_TOKEN: vercelToken, VERCEL_TEAM_ID: vercelTeam, VERCEL_PROJECT_ID: vercelProject },
      VERCEL_API_URL: vercel.apiUrl,
    };
    const options = testOptions(sandboxFolder, { container: { persistent: true } });
    const environment = await createVercelEnvironment(options, {
      taskId: 'agent:main:contract',
      installId: 'contract',
      log: silentLog,
      env,
    });
    return {
      environment,
      folder: join(environment.home, 'contract'),
      shell: 'bash',
      background: { stdin: true, pty: false },
      leftovers: async () =>
        [...vercel.sandboxes.values()]
          .filter(({ session }) => session.status !== 'stopped')
          .map(({ name, session }) => `${name} ${session.status}`),
    };
  });
});
