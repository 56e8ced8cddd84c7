import type { Client } from 'discord.js';
import { z } from 'zod';
import type { Clock } from '../../src/clock.ts';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { DiscordApi } from './api.ts';
import type { Lanes } from './lanes.ts';
import type { MarkSnapshot } from './marks.ts';
import { isLater, later, snowflakeAt } from './snowflake.ts';
import { messageShape, type WireMessage } from './wire.ts';

const reachBackMs = 24 * 3_600_000;
const mostMessages = 100;
const mostChats = 200;

export interface CatchUpDeps {
  client: Client;
  api: DiscordApi;
  lanes: Lanes;
  clock: Clock;
  log: Log;
  /** Whether channel lists let the bot act there. */
  isOpen(channelId: string, parentId: string | undefined): boolean;
  handle(message: WireMessage): Promise<void>;
}

/**
 * Asks for what was written while the bot was away: Discord replays a short break (RESUME), not a restart. Each
 * chat's missed messages go first in its lane, so that what arrives meanwhile stays behind them.
 */
export function catchUp(deps: CatchUpDeps, marks: MarkSnapshot): void {
  const { client, clock, lanes, log } = deps;
  const horizon = snowflakeAt(clock.now() - reachBackMs);
  const missed = missedChannels(client, marks, horizon).filter(({ id, parentId }) => deps.isOpen(id, parentId));
  if (missed.length > mostChats) log.warn({ chats: missed.length }, 'only the first 200 Discord chats are caught up');
  for (const { id, since } of missed.slice(0, mostChats)) lanes.add(id, () => readSince(deps, id, since));
}

interface Missed {
  id: string;
  since: string;
  parentId: string | undefined;
}

function missedChannels(client: Client, marks: MarkSnapshot, horizon: string): Missed[] {
  const found: Missed[] = [];
  const cached = new Set<string>();
  for (const channel of client.channels.cache.values()) {
    cached.add(channel.id);
    if (!channel.isTextBased() || channel.isDMBased()) continue;
    const mark = marks.seen.get(channel.id) ?? marks.alive;
    if (mark === undefined || channel.lastMessageId === null) continue;
    const since = later(mark, horizon);
    if (!isLater(channel.lastMessageId, since)) continue;
    const parentId = channel.isThread() ? (channel.parentId ?? undefined) : undefined;
    found.push({ id: channel.id, since, parentId });
  }
  // Discord announces neither DMs nor their last message; those that were active are asked one by one.
  for (const [id, mark] of marks.seen) {
    if (!cached.has(id)) found.push({ id, since: later(mark, horizon), parentId: undefined });
  }
  return found;
}

async function readSince(deps: CatchUpDeps, channelId: string, since: string): Promise<void> {
  const query = new URLSearchParams({ limit: String(mostMessages) });
  const what = 'read what was missed';
  try {
    const path = `/channels/${channelId}/messages` as const;
    const page = await deps.api.call({ method: 'get', path, query, what }, z.array(messageShape));
    const fresh = page.filter(({ id }) => isLater(id, since)).toReversed();
    for (const message of fresh) await deps.handle(message);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.retryable) throw error;
    deps.log.info({ channel: channelId, reason: errorMessage(error) }, 'a Discord chat could not be caught up');
  }
}
