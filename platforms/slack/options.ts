import type { Clock } from '../../src/clock.ts';
import type { Log } from '../../src/log.ts';
import type { PaceSwitch } from '../pace.ts';
import type { PlatformMemory } from '../platform.ts';

export interface SlackOptions {
  /** One `xoxb-` token a workspace. */
  botTokens: readonly string[];
  /** `xapp-` token with `connections:write`: turns Socket Mode on. */
  appToken?: string;
  /** Turns the signed HTTP endpoint on; with an app token too, Socket Mode delivers. */
  signingSecret?: string;
  /** Base of the Web API, ending in a slash. */
  apiRoot?: string;
  /** In channels, answer only when mentioned (or in a followed thread). Default true. */
  requireMention?: boolean;
  /** Channel ids in which no mention is needed. */
  freeResponseChannels?: readonly string[];
  /** When not empty, other channels are ignored; DMs never are. */
  allowedChannels?: readonly string[];
  /** Ask for a mention in every message, even in threads that the bot takes part in. Default false. */
  strictMention?: boolean;
  /** Answer a channel message in a thread of its own. Default true. */
  replyInThread?: boolean;
  /** Show an answer in a thread in the channel too. Default false. */
  replyBroadcast?: boolean;
  /** Which messages of other bots are passed on. Default `none`. */
  allowBots?: 'none' | 'mentions' | 'all';
  /** Longest silence before a socket counts as dead, in milliseconds. */
  pingTimeoutMs?: number;
  /** `off` behind a proxy that keeps Slack's limits itself. */
  pace?: PaceSwitch;
}

export type SlackSettings = Required<Omit<SlackOptions, 'appToken' | 'signingSecret'>> &
  Pick<SlackOptions, 'appToken' | 'signingSecret'>;

export interface SlackDeps {
  log: Log;
  clock: Clock;
  memory: PlatformMemory;
}

/** Empty strings and lists, as unset variables give them, count as absent. */
export function withDefaults(options: SlackOptions): SlackSettings {
  const { appToken, signingSecret } = options;
  return {
    botTokens: options.botTokens,
    ...(appToken ? { appToken } : {}),
    ...(signingSecret ? { signingSecret } : {}),
    apiRoot: withSlash(options.apiRoot || 'https://slack.com/api/'),
    requireMention: options.requireMention ?? true,
    freeResponseChannels: options.freeResponseChannels ?? [],
    allowedChannels: options.allowedChannels ?? [],
    strictMention: options.strictMention ?? false,
    replyInThread: options.replyInThread ?? true,
    replyBroadcast: options.replyBroadcast ?? false,
    allowBots: options.allowBots ?? 'none',
    pingTimeoutMs: options.pingTimeoutMs ?? 15_000,
    pace: options.pace ?? 'on',
  };
}

/** Whether the bot listens in this channel. A DM is always heard; who may speak there is the gateway's to say. */
export function channelAllowed({ allowedChannels }: SlackSettings, channel: string): boolean {
  return allowedChannels.length === 0 || channel.startsWith('D') || allowedChannels.includes(channel);
}

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}
