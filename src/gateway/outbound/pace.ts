import type { ChatAddress, PlatformCapabilities } from '../../../platforms/platform.ts';
import type { Clock } from '../../clock.ts';

/** A bucket that refills by time: a chat may burst first, and then keeps to the long-term pace. */
interface Bucket {
  tokens: number;
  at: number;
}

/**
 * The pace of one bot: how long the next message to a chat has to wait. A chat's bucket holds its burst; groups are
 * also held to their limit a minute, everything to the bot's limit a second.
 */
export interface Pace {
  /** Milliseconds to wait; 0 takes the tokens. */
  take(chat: ChatAddress): number;
  /** The platform said to wait: nothing goes to this chat until then. */
  block(chat: ChatAddress, forMs: number): void;
  /** Whether that still holds. */
  isBlocked(chat: ChatAddress): boolean;
}

/** Chats remembered; the oldest are forgotten first, by which time their buckets are full again. */
const maxChats = 2_000;

export function createPace(pace: PlatformCapabilities['pace'], clock: Clock): Pace {
  const buckets = new Map<string, Bucket>();
  const blockedUntil = new Map<string, number>();

  function refill(name: string, perSecond: number, size: number, now: number): Bucket {
    const old = buckets.get(name) ?? { tokens: size, at: now };
    const fresh = { tokens: Math.min(size, old.tokens + ((now - old.at) / 1000) * perSecond), at: now };
    buckets.delete(name);
    buckets.set(name, fresh);
    if (buckets.size > maxChats) {
      const oldest = buckets.keys().next().value;
      if (oldest !== undefined) buckets.delete(oldest);
    }
    return fresh;
  }

  const limitsFor = (chat: ChatAddress): { name: string; perSecond: number; size: number }[] => {
    const limits = [
      { name: 'bot', perSecond: pace.perBotPerSecond, size: pace.perBotPerSecond },
      { name: chat.chatId, perSecond: pace.perChatPerSecond, size: pace.perChatBurst },
    ];
    if (chat.kind !== 'dm') {
      limits.push({
        name: `${chat.chatId}/minute`,
        perSecond: pace.groupPerMinute / 60,
        size: pace.groupPerMinute,
      });
    }
    return limits.filter((limit) => Number.isFinite(limit.perSecond));
  };

  return {
    take(chat) {
      const now = clock.now();
      const blocked = (blockedUntil.get(chat.chatId) ?? 0) - now;
      if (blocked > 0) return blocked;
      blockedUntil.delete(chat.chatId);
      const drawn = limitsFor(chat).map((limit) => ({
        limit,
        bucket: refill(limit.name, limit.perSecond, limit.size, now),
      }));
      const waitMs = Math.max(
        0,
        ...drawn.map(({ limit, bucket }) => ((1 - bucket.tokens) / limit.perSecond) * 1000),
      );
      if (waitMs > 0) return Math.ceil(waitMs);
      for (const { bucket } of drawn) bucket.tokens -= 1;
      return 0;
    },
    isBlocked: (chat) => (blockedUntil.get(chat.chatId) ?? 0) > clock.now(),
    block(chat, forMs) {
      blockedUntil.set(chat.chatId, clock.now() + forMs);
    },
  };
}
