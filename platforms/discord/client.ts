import type { CacheWithLimitsOptions, Client, REST } from 'discord.js';
import { createApi, type DiscordApi } from './api.ts';
import type { DiscordSettings } from './options.ts';

/** The one place that loads discord.js: 400 ms and 55 MB that a gateway without Discord never pays. */
export type Library = typeof import('discord.js');
export const loadLibrary = (): Promise<Library> => import('discord.js');

const callTimeoutMs = 15_000;

/**
 * The REST client. It waits by itself for a bucket to refill, except for messages: those are the gateway's to pace,
 * so that a card passes a stream edit and one busy chat keeps its order.
 */
export function openRest(
  library: Library,
  { apiRoot, token, pace }: DiscordSettings,
): { rest: REST; api: DiscordApi } {
  const rest = new library.REST({
    api: apiRoot.replace(/\/+$/, ''),
    version: '10',
    timeout: callTimeoutMs,
    retries: 0,
    // Waits are told as Discord tells them; whoever waits may add to them.
    offset: 0,
    ...(pace === 'off' ? { globalRequestsPerSecond: Number.POSITIVE_INFINITY } : {}),
    rejectOnRateLimit: ({ route, method }) => method.toUpperCase() !== 'GET' && isMessageRoute(route),
  }).setToken(token);
  return { rest, api: createApi(rest, library) };
}

const isMessageRoute = (route: string): boolean => /^\/channels\/:id\/messages(\/:id)?$/.test(route);

/** Message text is a privileged intent; the rest is not. */
export function openClient(library: Library, settings: DiscordSettings): Client {
  const { Client, GatewayIntentBits: intent, Options } = library;
  return new Client({
    intents: [intent.Guilds, intent.GuildMessages, intent.DirectMessages, intent.MessageContent],
    // Events are read as they come off the wire, so that nothing hangs on what happens to be cached.
    makeCache: Options.cacheWithLimits({ ...keepNothing, ...keepSelf }),
    allowedMentions: { parse: [] },
    waitGuildTimeout: 5000,
    rest: { api: settings.apiRoot.replace(/\/+$/, ''), timeout: callTimeoutMs },
    ...(settings.shards === 'auto' ? { shards: 'auto' as const } : {}),
    ...(typeof settings.shards === 'number'
      ? { shards: range(settings.shards), shardCount: settings.shards }
      : {}),
  });
}

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

const keepNothing: CacheWithLimitsOptions = {
  AutoModerationRuleManager: 0,
  DMMessageManager: 0,
  GuildBanManager: 0,
  GuildEmojiManager: 0,
  GuildInviteManager: 0,
  GuildMessageManager: 0,
  GuildScheduledEventManager: 0,
  GuildStickerManager: 0,
  MessageManager: 0,
  PresenceManager: 0,
  ReactionManager: 0,
  ReactionUserManager: 0,
  StageInstanceManager: 0,
  ThreadMemberManager: 0,
  VoiceStateManager: 0,
};

const keepSelf: CacheWithLimitsOptions = {
  GuildMemberManager: { maxSize: 0, keepOverLimit: (member) => member.id === member.client.user.id },
  UserManager: { maxSize: 0, keepOverLimit: (user) => user.id === user.client.user.id },
};
