import type { Clock } from '../../src/clock.ts';
import type { Log } from '../../src/log.ts';
import type { PaceSwitch } from '../pace.ts';
import type { PlatformMemory } from '../platform.ts';

export type AllowBots = 'none' | 'mentions' | 'all';

export interface DiscordOptions {
  token: string;
  /** Without the version: the client adds `/v10`. */
  apiRoot?: string;
  /** In server channels answer only when mentioned, replied to, or in a thread that the bot takes part in. */
  requireMention?: boolean;
  /** A mention in a channel opens a thread, named from the text. */
  autoThread?: boolean;
  /** Channel ids; a thread counts as its parent channel too. Empty: every channel. */
  allowedChannels?: readonly string[];
  ignoredChannels?: readonly string[];
  noThreadChannels?: readonly string[];
  /** Answered without a mention, and never threaded. */
  freeResponseChannels?: readonly string[];
  /** Marks messages with 👀, ✅ and ❌; the gateway decides when. */
  reactions?: boolean;
  /** Whether messages of other bots count. */
  allowBots?: AllowBots;
  /** How many gateway connections to open: `auto` asks Discord. One when absent. */
  shards?: number | 'auto';
  /** `off` behind a proxy that keeps Discord's limits itself. */
  pace?: PaceSwitch;
}

export type DiscordSettings = Required<DiscordOptions>;

export interface DiscordDeps {
  log: Log;
  clock: Clock;
  memory: PlatformMemory;
}

export function withDefaults(options: DiscordOptions): DiscordSettings {
  return {
    apiRoot: 'https://discord.com/api',
    requireMention: true,
    autoThread: true,
    allowedChannels: [],
    ignoredChannels: [],
    noThreadChannels: [],
    freeResponseChannels: [],
    reactions: true,
    allowBots: 'none',
    shards: 1,
    pace: 'on',
    ...options,
  };
}
