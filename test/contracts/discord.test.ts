import { discordRig } from '../emulators/discord/rig.ts';
import { catchUpContract } from './catch-up-contract.ts';
import { platformContract } from './platform-contract.ts';

platformContract('discord', discordRig);
catchUpContract('discord', discordRig);
