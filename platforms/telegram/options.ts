import type { Clock } from '../../src/clock.ts';
import type { Log } from '../../src/log.ts';
import type { PlatformMemory } from '../platform.ts';

export interface TelegramOptions {
  token: string;
  /** Of the Bot API server; the client adds `/bot<token>/…`. Default https://api.telegram.org. */
  apiRoot?: string;
  /** Updates are posted here instead of polled. The secret is what Telegram proves itself with. */
  webhook?: { url: string; secret: string };
  /** In groups answer only when mentioned, replied to or commanded. Default true. */
  requireMention?: boolean;
  /** Regular expressions that count as a mention. */
  mentionPatterns?: readonly string[];
  /** Group ids in which every message is answered. */
  freeResponseChats?: readonly string[];
  /** Forum topics that are not listened to: `chat:thread` or `thread`. */
  ignoredThreads?: readonly string[];
  reactions?: boolean;
  linkPreviews?: boolean;
  silent?: boolean;
  /** `off` for a Bot API server of one's own, which has no limits. Default on. */
  pace?: 'on' | 'off';
  /** How long a poll is held by the server, in seconds. Default 30. */
  pollSeconds?: number;
}

export type TelegramSettings = Required<Omit<TelegramOptions, 'webhook'>> & Pick<TelegramOptions, 'webhook'>;

export interface TelegramDeps {
  log: Log;
  clock: Clock;
  memory: PlatformMemory;
}

export function withDefaults(options: TelegramOptions): TelegramSettings {
  return {
    apiRoot: 'https://api.telegram.org',
    requireMention: true,
    mentionPatterns: [],
    freeResponseChats: [],
    ignoredThreads: [],
    reactions: false,
    linkPreviews: true,
    silent: false,
    pace: 'on',
    pollSeconds: 30,
    ...options,
  };
}
