import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { silentLog } from '../../src/log.ts';
import { createModalEnvironment } from '../../tools/environments/modal.ts';
import {
  type ModalEmulator,
  modalTokenId,
  modalTokenSecret,
  startModalEmulator,
} from '../emulators/modal/modal-emulator.ts';
import { testOptions } from '../support/terminal-options.ts';
import { environmentContract } from './environment-contract.ts';

describe.skipIf(process.platform !== 'linux')('needs /proc', () => {
  let modal: ModalEmulator;
  let sandboxFolder: string;

  beforeAll(async () => {
    modal = await startModalEmulator();
    sandboxFolder = await mkdtemp(join(tmpdir(), 'contract-modal-'));
  });
  afterAll(async () => {
    await modal.stop();
    await rm(sandboxFolder, { recursive: true });
    expect(modal.violations).toEqual([]);
  });

  environmentContract('modal', async () => {
    const env = {
      MODAL_SERVER_URL: modal.url,
      MODAL_TOKEN_ID: modalTokenId,
      MODAL_TOKEN_SECRET: modalTokenSecret,
    };
    const options = testOptions(sandboxFolder, { container: { persistent: true } });
    const environment = await createModalEnvironment(options, {
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
        [...modal.sandboxes.values()].filter(({ ended }) => ended === null).map(({ name }) => name),
    };
  });
});
