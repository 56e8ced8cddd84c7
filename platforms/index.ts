import type { Clock } from '../src/clock.ts';
import type { Log } from '../src/log.ts';
import type { DiscordOptions } from './discord/options.ts';
import type { Platform, PlatformMemory } from './platform.ts';
import type { SlackOptions } from './slack/options.ts';
import type { TelegramOptions } from './telegram/options.ts';
import type { WebOptions } from './web/web.ts';

export interface PlatformDeps {
  log: Log;
  clock: Clock;
  memory: PlatformMemory;
}

/** The chat platforms. Each is loaded when it is used: their client libraries are heavy. */
export const platforms = {
  telegram: async (options: TelegramOptions, deps: PlatformDeps): Promise<Platform> =>
    (await import('./telegram/telegram.ts')).createTelegram(options, deps),
  discord: async (options: DiscordOptions, deps: PlatformDeps): Promise<Platform> =>
    (await import('./discord/discord.ts')).createDiscord(options, deps),
  slack: async (options: SlackOptions, deps: PlatformDeps): Promise<Platform> =>
    (await import('./slack/slack.ts')).createSlack(options, deps),
  web: async (options: WebOptions, deps: PlatformDeps): Promise<Platform> =>
    (await import('./web/web.ts')).createWeb(options, deps),
};
