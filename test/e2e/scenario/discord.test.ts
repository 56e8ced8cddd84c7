import { openDiscord } from './discord-stage.ts';
import { scenario } from './scenario.ts';

scenario('Discord', openDiscord);
