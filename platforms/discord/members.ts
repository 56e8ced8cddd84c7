import type { DiscordApi } from './api.ts';
import type { Member } from './inbound.ts';
import { memberShape } from './wire.ts';

/** Asks for a member's roles and nickname; undefined when Discord won't say, so that no role is ever assumed. */
export function createMembers(api: DiscordApi) {
  return async (guildId: string, userId: string): Promise<Member | undefined> => {
    const path = `/guilds/${guildId}/members/${userId}` as const;
    return api.call({ method: 'get', path, what: 'look a member up' }, memberShape).catch(() => undefined);
  };
}
