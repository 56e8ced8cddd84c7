import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { createDaytonaEnvironment } from '../../tools/environments/daytona.ts';
import {
  type DaytonaEmulator,
  daytonaKey,
  startDaytonaEmulator,
} from '../emulators/daytona/daytona-emulator.ts';
import { testOptions } from '../support/terminal-options.ts';
import { environmentContract } from './environment-contract.ts';

describe.skipIf(process.platform !== 'linux')('needs /proc', () => {
  let daytona: DaytonaEmulator;
  let sandboxFolder: string;

  beforeAll(async () => {
    daytona = await startDaytonaEmulator();
    sandboxFolder = await mkdtemp(join(tmpdir(), 'contract-daytona-'));
  });
  afterAll(async () => {
    await daytona.stop();
    await rm(sandboxFolder, { recursive: true });
    expect(daytona.violations).toEqual([]);
  });

  environmentContract('daytona', async () => {
    const env = { DAYTONA_API_KEY: daytonaKey, DAYTONA_API_URL: daytona.apiUrl };
    const options = testOptions(sandboxFolder, { container: { persistent: true } });
    const environment = await createDaytonaEnvironment(options, {
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
        [...daytona.sandboxes.values()]
          .filter(({ state }) => state !== 'stopped')
          .map(({ name, state }) => `${name} ${state}`),
    };
  });
});
