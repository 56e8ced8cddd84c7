import { join } from 'node:path';
import { platforms } from '../../platforms/index.ts';
import type { Platform, PlatformMemory } from '../../platforms/platform.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/schema.ts';
import { isPlatformEnabled } from '../config/views.ts';
import type { Log } from '../log.ts';
import type { Guard } from '../server/guard.ts';
import type { Store } from '../store/store.ts';

export interface OpenPlatformsOptions {
  home: string;
  config: Config;
  guard: Guard;
  log: Log;
  clock: Clock;
  store: Store;
}

/** Makes the adapters of every platform that is switched on, side by side; none connects yet. */
export async function openPlatforms(options: OpenPlatformsOptions): Promise<ReadonlyMap<string, Platform>> {
  const { config, log, clock, store } = options;
  const deps = (name: string) => ({
    log: log.child({ platform: name }),
    clock,
    memory: memoryOf(store, name),
  });
  const opening: Promise<Platform>[] = [];
  if (isPlatformEnabled(config, 'telegram'))
    opening.push(platforms.telegram(telegramOptions(config), deps('telegram')));
  if (isPlatformEnabled(config, 'discord'))
    opening.push(platforms.discord(discordOptions(config), deps('discord')));
  if (isPlatformEnabled(config, 'slack')) opening.push(platforms.slack(slackOptions(config), deps('slack')));
  if (config.web.enabled)
    opening.push(
      platforms.web({ admit: options.guard.admit, folder: join(options.home, 'web') }, deps('web')),
    );
  return new Map((await Promise.all(opening)).map((platform) => [platform.name, platform]));
}

function telegramOptions({ telegram }: Config) {
  return {
    token: telegram.token,
    ...(telegram.api_root !== '' && { apiRoot: telegram.api_root }),
    ...(telegram.webhook_url !== '' && {
      webhook: { url: telegram.webhook_url, secret: telegram.webhook_secret },
    }),
    requireMention: telegram.require_mention,
    mentionPatterns: telegram.mention_patterns,
    freeResponseChats: telegram.free_response_chats,
    ignoredThreads: telegram.ignored_threads,
    reactions: telegram.reactions,
    linkPreviews: !telegram.disable_link_previews,
    silent: telegram.silent_notifications,
    pace: telegram.pace,
  };
}

function discordOptions({ discord }: Config) {
  return {
    token: discord.token,
    ...(discord.api_root !== '' && { apiRoot: discord.api_root }),
    requireMention: discord.require_mention,
    autoThread: discord.auto_thread,
    allowedChannels: discord.allowed_channels,
    ignoredChannels: discord.ignored_channels,
    noThreadChannels: discord.no_thread_channels,
    freeResponseChannels: discord.free_response_channels,
    reactions: discord.reactions,
    allowBots: discord.allow_bots,
    shards: discord.shards,
    pace: discord.pace,
  };
}

function slackOptions({ slack }: Config) {
  return {
    botTokens: slack.token.split(',').map((token) => token.trim()),
    appToken: slack.app_token,
    signingSecret: slack.signing_secret,
    apiRoot: slack.api_root,
    requireMention: slack.require_mention,
    freeResponseChannels: slack.free_response_channels,
    allowedChannels: slack.allowed_channels,
    strictMention: slack.strict_mention,
    replyInThread: slack.reply_in_thread,
    replyBroadcast: slack.reply_broadcast,
    allowBots: slack.allow_bots,
    pingTimeoutMs: slack.ping_timeout * 1000,
    pace: slack.pace,
  };
}

function memoryOf(store: Store, owner: string): PlatformMemory {
  return {
    get: (key) => store.read.memory.get(owner, key),
    set: (key, value) => store.transaction((tables) => tables.memory.set(owner, key, value)),
    delete: (key) => store.transaction((tables) => tables.memory.delete(owner, key)),
    list: (prefix) => store.read.memory.list(owner, prefix),
  };
}
