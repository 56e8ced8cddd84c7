import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { storeContract } from './store-contract.ts';

storeContract('sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-store-'));
  const path = join(folder, 'state.db');
  const store = openSqliteStore(path);
  return {
    store,
    reopen: async () => openSqliteStore(path),
    dispose: async () => {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
});
