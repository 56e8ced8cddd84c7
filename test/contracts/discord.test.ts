import { discordRig } from '../emulators/discord/rig.ts';
import { catchUpContract } from './catch-up-contract.ts';
import { floodContract } from './flood-contract.ts';
import { formatContract } from './format-contract.ts';
import { hostileContract } from './hostile-contract.ts';
import { platformContract } from './platform-contract.ts';

platformContract('discord', discordRig);
catchUpContract('discord', discordRig);
hostileContract('discord', discordRig);
formatContract('discord', discordRig);
floodContract('discord', discordRig);
