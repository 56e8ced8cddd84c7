import { scenario } from './scenario.ts';
import { openSlack } from './slack-stage.ts';

scenario('Slack', openSlack);
