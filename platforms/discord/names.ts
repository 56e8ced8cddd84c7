import type { Client } from 'discord.js';
import type { Channels } from './channels.ts';
import type { Names } from './plain-text.ts';

/** The names that texts of a server mention by id, from discord.js's cache. */
export function createNames(client: () => Client | undefined, channels: Channels) {
  return (guildId: string | undefined): Names => {
    const botId = client()?.user?.id ?? '';
    const roles = guildId === undefined ? undefined : client()?.guilds.cache.get(guildId)?.roles.cache;
    return {
      botId,
      botRoleId: roles?.find(({ tags }) => tags?.botId === botId)?.id,
      channelName: (id) => channels.known(id)?.name,
      roleName: (id) => roles?.get(id)?.name,
    };
  };
}
