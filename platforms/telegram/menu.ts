import type { Log } from '../../src/log.ts';
import type { BotCommand, PlatformMemory } from '../platform.ts';
import type { TelegramClient } from './client.ts';
import { toGatewayError } from './errors.ts';

/** Of the 100 that Telegram takes; a longer menu helps nobody. */
const mostCommands = 60;
const longestDescription = 256;

/** Sets the menu of slash commands when it has changed since the last time. Best effort: the bot works without. */
export async function setMenu(
  client: TelegramClient,
  memory: PlatformMemory,
  commands: readonly BotCommand[],
  log: Log,
): Promise<void> {
  const menu = commands
    .map(({ name, description }) => ({
      command: name.replaceAll('-', '_').toLowerCase(),
      description: description.slice(0, longestDescription),
    }))
    .filter(({ command, description }) => /^[a-z0-9_]{1,32}$/.test(command) && description !== '')
    .slice(0, mostCommands);
  const wanted = JSON.stringify(menu);
  try {
    if (menu.length === 0 || (await memory.get('menu')) === wanted) return;
    await client.api.setMyCommands({ commands: menu });
    await memory.set('menu', wanted);
  } catch (error) {
    log.warn(
      { why: toGatewayError(error, 'setMyCommands').message },
      'telegram: the command menu was not set',
    );
  }
}
