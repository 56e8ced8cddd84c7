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
  isOpen(channelId: string): boolean;
  handle(message: WireMessage): Promise<void>;
}

/**
 * Asks for what was written while the bot was away: Discord replays a short break (RESUME), not a restart. Each
 * chat's missed messages go first in its lane, so that what arrives meanwhile stays behind them.
 */
export function catchUp(deps: CatchUpDeps, shardId: number, marks: MarkSnapshot): void {
  const { clock, lanes, log } = deps;
  const horizon = snowflakeAt(clock.now() - reachBackMs);
  const missed = [...inServers(deps, shardId, marks, horizon), ...inDms(shardId, marks, horizon)];
  if (missed.length > mostChats)
    log.warn({ chats: missed.length }, 'only the first 200 Discord chats are caught up');
  for (const chat of missed.slice(0, mostChats)) lanes.add(chat.id, () => readSince(deps, chat));
}

interface Missed {
  id: string;
  guildId: string | undefined;
  since: string;
}

function inServers(
  { client, isOpen }: CatchUpDeps,
  shardId: number,
  marks: MarkSnapshot,
  horizon: string,
): Missed[] {
  const found: Missed[] = [];
  for (const channel of client.channels.cache.values()) {
    if (!channel.isTextBased() || channel.isDMBased() || channel.guild.shardId !== shardId) continue;
    const since = startOf(channel.id, marks, horizon);
    if (since === undefined || channel.lastMessageId === null || !isOpen(channel.id)) continue;
    if (isLater(channel.lastMessageId, since))
      found.push({ id: channel.id, guildId: channel.guildId, since });
  }
  return found;
}

/** From where to read a channel; undefined when the bot has never run before. */
function startOf(channelId: string, { seen, alive }: MarkSnapshot, horizon: string): string | undefined {
  const mark = seen.get(channelId) ?? alive;
  return mark === undefined ? undefined : later(later(mark, alive ?? mark), horizon);
}

/** Discord announces neither DMs nor their last message, so those that were active are asked one by one. */
function inDms(shardId: number, marks: MarkSnapshot, horizon: string): Missed[] {
  if (shardId !== 0) return [];
  return [...marks.direct].map((id) => ({
    id,
    guildId: undefined,
    since: startOf(id, marks, horizon) ?? horizon,
  }));
}

async function readSince({ api, handle, log }: CatchUpDeps, { id, guildId, since }: Missed): Promise<void> {
  const query = new URLSearchParams({ limit: String(mostMessages) });
  const what = 'read what was missed';
  try {
    const page = await api.call(
      { method: 'get', path: `/channels/${id}/messages`, query, what },
      z.array(messageShape),
    );
    for (const message of page.filter((candidate) => isLater(candidate.id, since)).toReversed()) {
      // History leaves out which server a message is of.
      await handle(guildId === undefined ? message : { ...message, guild_id: guildId });
    }
  } catch (error) {
    if (!(error instanceof GatewayError) || error.retryable) throw error;
    log.info({ channel: id, reason: errorMessage(error) }, 'a Discord chat could not be caught up');
  }
}
