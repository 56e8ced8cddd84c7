import type { Channel, Client } from 'discord.js';
import type { z } from 'zod';
import type { ChatAddress } from '../platform.ts';
import type { DiscordApi } from './api.ts';
import { channelShape, channelType } from './wire.ts';

/** What the adapter needs to know of a channel. */
export interface ChannelFacts {
  id: string;
  kind: 'dm' | 'channel' | 'thread';
  type: number;
  name?: string;
  guildId?: string;
  parentId?: string;
  ownerId?: string;
}

export interface Channels {
  /** From discord.js's cache alone. */
  known(id: string): ChannelFacts | undefined;
  /** From discord.js's cache, else from Discord. Rejects with a `GatewayError`. */
  get(id: string): Promise<ChannelFacts>;
}

const threadTypes: readonly number[] = [
  channelType.announcementThread,
  channelType.publicThread,
  channelType.privateThread,
];
const forumTypes: readonly number[] = [channelType.forum, channelType.media];
const directTypes: readonly number[] = [channelType.dm, channelType.groupDm];

export const isForum = (channel: ChannelFacts): boolean => forumTypes.includes(channel.type);

export const directChannel = (id: string): ChannelFacts => ({ id, kind: 'dm', type: channelType.dm });

const remembered = 200;

export function createChannels(client: () => Client | undefined, api: DiscordApi): Channels {
  const fetched = new Map<string, ChannelFacts>();

  function known(id: string): ChannelFacts | undefined {
    const cached = client()?.channels.cache.get(id);
    return cached === undefined ? undefined : factsOfCached(cached);
  }

  async function get(id: string): Promise<ChannelFacts> {
    const held = known(id) ?? fetched.get(id);
    if (held !== undefined) return held;
    const wire = await api.call(
      { method: 'get', path: `/channels/${id}`, what: 'look a channel up' },
      channelShape,
    );
    const facts = factsOfWire(wire);
    fetched.set(id, facts);
    for (const oldest of fetched.keys()) {
      if (fetched.size <= remembered) break;
      fetched.delete(oldest);
    }
    return facts;
  }

  return {
    known,
    get,
  };
}

function facts(channel: {
  id: string;
  type: number;
  name?: string | null | undefined;
  guildId?: string | null | undefined;
  parentId?: string | null | undefined;
  ownerId?: string | null | undefined;
}): ChannelFacts {
  const { id, type, name, guildId, parentId, ownerId } = channel;
  const kind = directTypes.includes(type) ? 'dm' : threadTypes.includes(type) ? 'thread' : 'channel';
  return {
    id,
    type,
    kind,
    ...(name ? { name } : {}),
    ...(guildId ? { guildId } : {}),
    ...(parentId ? { parentId } : {}),
    ...(ownerId ? { ownerId } : {}),
  };
}

function factsOfCached(channel: Channel): ChannelFacts {
  if (channel.isThread()) return facts(channel);
  if (channel.isDMBased()) return facts({ id: channel.id, type: channel.type });
  return facts({ id: channel.id, type: channel.type, name: channel.name, guildId: channel.guildId });
}

export function factsOfWire(wire: z.infer<typeof channelShape>): ChannelFacts {
  return facts({
    id: wire.id,
    type: wire.type,
    name: wire.name,
    guildId: wire.guild_id,
    parentId: wire.parent_id,
    ownerId: wire.owner_id,
  });
}

/** The chat that a channel is: a thread belongs to its parent. */
export function chatOf(channel: ChannelFacts): ChatAddress {
  const { id, kind, parentId } = channel;
  if (kind === 'thread' && parentId !== undefined) return threadChat(parentId, id);
  return { platform: 'discord', kind, chatId: id };
}

export const threadChat = (parentId: string, threadId: string): ChatAddress => ({
  platform: 'discord',
  kind: 'thread',
  chatId: parentId,
  threadId,
});
