import type { Clock } from '../../src/clock.ts';
import { GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { PaceSwitch } from '../pace.ts';
import type { PlatformMemory } from '../platform.ts';

export interface TelegramOptions {
  token: string;
  /** Of a local Bot API server, for instance. Without a trailing slash; the client adds `/bot<token>/…`. */
  apiRoot?: string;
  /** Let Telegram call us instead of asking it. Without a path, `url` gets `/webhooks/telegram`. */
  webhook?: { url: string; secret: string };
  /** In groups answer only when mentioned, replied to, or addressed by command. */
  requireMention?: boolean;
  /** Regular expressions, case ignored: a group message that fits one counts as a mention. */
  mentionPatterns?: readonly string[];
  /** Ids of groups that need no mention. */
  freeResponseChats?: readonly string[];
  /** Forum topics in which the bot is deaf: `topic` or `chat:topic`. */
  ignoredThreads?: readonly string[];
  reactions?: boolean;
  linkPreviews?: boolean;
  /** Send everything but cards without a sound. */
  silent?: boolean;
  /** `off` with a Bot API server of one's own that has no limits. */
  pace?: PaceSwitch;
  /** Forget what was written while the bot was off. */
  dropStaleUpdates?: boolean;
  /** How long one call for updates waits for the first one. */
  pollTimeoutSeconds?: number;
  /** How much longer than that it may take before it counts as dead, in milliseconds. */
  pollGraceMs?: number;
  /** Waits after failed calls for updates: the first, doubled up to the longest. */
  backoff?: Backoff;
  /** The same after conflicts with another program that polls; as `backoff` when only that is given. */
  conflictBackoff?: Backoff;
}

export interface Backoff {
  firstMs: number;
  longestMs: number;
}

export interface TelegramSettings extends Required<Omit<TelegramOptions, 'webhook' | 'mentionPatterns'>> {
  webhook: { url: string; secret: string } | null;
  mentionPatterns: readonly RegExp[];
}

export interface TelegramDeps {
  log: Log;
  clock: Clock;
  memory: PlatformMemory;
}

export const webhookPath = '/webhooks/telegram';

/** Empty strings, as unset variables give them, count as absent. */
export function withDefaults(options: TelegramOptions): TelegramSettings {
  return {
    token: options.token,
    apiRoot: (options.apiRoot || 'https://api.telegram.org').replace(/\/+$/, ''),
    webhook: options.webhook?.url ? checkedWebhook(options.webhook) : null,
    requireMention: options.requireMention ?? true,
    mentionPatterns: (options.mentionPatterns ?? []).map(compiled),
    freeResponseChats: options.freeResponseChats ?? [],
    ignoredThreads: options.ignoredThreads ?? [],
    reactions: options.reactions ?? false,
    linkPreviews: options.linkPreviews ?? true,
    silent: options.silent ?? false,
    pace: options.pace ?? 'on',
    dropStaleUpdates: options.dropStaleUpdates ?? false,
    pollTimeoutSeconds: options.pollTimeoutSeconds ?? 30,
    pollGraceMs: options.pollGraceMs ?? 10_000,
    // Somebody waits for an answer while updates are not fetched: a second after the outage, not a minute.
    backoff: options.backoff ?? { firstMs: 1_000, longestMs: 5_000 },
    conflictBackoff: options.conflictBackoff ?? options.backoff ?? { firstMs: 5_000, longestMs: 60_000 },
  };
}

function compiled(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'iu');
  } catch (error) {
    throw new GatewayError(
      'config_invalid',
      `telegram.mention_patterns: ${JSON.stringify(pattern)} is no regular expression.`,
      {
        mend: 'Correct the pattern in config.yaml or in TELEGRAM_MENTION_PATTERNS.',
        cause: error,
      },
    );
  }
}

/** Bot API: setWebhook, secret_token. Without a secret anyone could pose as Telegram. */
function checkedWebhook({ url, secret }: { url: string; secret: string }): { url: string; secret: string } {
  if (!/^[\w-]{1,256}$/.test(secret)) {
    throw new GatewayError(
      'config_invalid',
      'telegram.webhook_secret must be 1 to 256 letters, digits, _ or -.',
      {
        mend: 'Set TELEGRAM_WEBHOOK_SECRET, for instance to the output of: openssl rand -hex 32',
      },
    );
  }
  if (!URL.canParse(url)) {
    throw new GatewayError('config_invalid', 'telegram.webhook_url is no URL.', {
      mend: 'Set TELEGRAM_WEBHOOK_URL to the public https address of this gateway.',
    });
  }
  const address = new URL(url);
  if (address.pathname === '/') address.pathname = webhookPath;
  return { url: address.href, secret };
}
