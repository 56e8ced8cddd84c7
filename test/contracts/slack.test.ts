import { slackRig } from '../emulators/slack/rig.ts';
import { platformContract } from './platform-contract.ts';

platformContract('slack', slackRig);
