import { telegramRig } from '../emulators/telegram/rig.ts';
import { catchUpContract } from './catch-up-contract.ts';
import { floodContract } from './flood-contract.ts';
import { formatContract } from './format-contract.ts';
import { hostileContract } from './hostile-contract.ts';
import { platformContract } from './platform-contract.ts';

platformContract('telegram', async () => (await telegramRig()).contract);
catchUpContract('telegram', async () => (await telegramRig()).contract);
hostileContract('telegram', async () => (await telegramRig()).contract);
formatContract('telegram', async () => (await telegramRig()).contract);
floodContract('telegram', async () => (await telegramRig()).contract);
