import { telegramRig } from '../emulators/telegram/rig.ts';
import { platformContract } from './platform-contract.ts';

platformContract('telegram', async () => (await telegramRig()).contract);
