import { slackRig } from '../emulators/slack/rig.ts';
import { catchUpContract } from './catch-up-contract.ts';
import { floodContract } from './flood-contract.ts';
import { formatContract } from './format-contract.ts';
import { hostileContract } from './hostile-contract.ts';
import { platformContract } from './platform-contract.ts';

platformContract('slack', slackRig);
catchUpContract('slack', slackRig);
hostileContract('slack', slackRig);
formatContract('slack', slackRig);
floodContract('slack', slackRig);
