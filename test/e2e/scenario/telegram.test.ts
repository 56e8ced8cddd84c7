import { scenario } from './scenario.ts';
import { openTelegram } from './telegram-stage.ts';

scenario('Telegram', openTelegram);
