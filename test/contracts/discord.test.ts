import { discordRig } from '../emulators/discord/rig.ts';
import { platformContract } from './platform-contract.ts';

platformContract('discord', discordRig);
