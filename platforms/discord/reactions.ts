import { z } from 'zod';
import type { ChatAddress } from '../platform.ts';
import type { DiscordApi } from './api.ts';
import { discordCode, refusedWith } from './errors.ts';
import type { Holding } from './holding.ts';
import { isSnowflake } from './snowflake.ts';
import { messageShape } from './wire.ts';

/** The bot's one reaction on a message: a new one takes the place of the last, null takes it away. */
export function createReactions(api: DiscordApi, holding: Holding) {
  async function react(
    chat: ChatAddress,
    messageId: string,
    emoji: string | null,
    signal: AbortSignal,
  ): Promise<void> {
    // A slash command is no message, so nothing can be put on it.
    if (!isSnowflake(messageId)) return;
    const path = `/channels/${await holding(chat, messageId)}/messages/${messageId}` as const;
    const own = (name: string) => `${path}/reactions/${encodeURIComponent(name)}/@me` as const;
    try {
      if (emoji !== null)
        await api.run({ method: 'put', path: own(emoji), what: 'react to a message', signal });
      const message = await api.call({ method: 'get', path, what: 'read reactions', signal }, reactionsOnly);
      const old = message.reactions.filter(
        ({ me, emoji: { name } }) => me && name !== null && name !== emoji,
      );
      for (const {
        emoji: { id, name },
      } of old) {
        const which = id === null ? (name ?? '') : `${name}:${id}`;
        await api.run({ method: 'delete', path: own(which), what: 'take a reaction back', signal });
      }
    } catch (error) {
      if (!refusedWith(error, discordCode.unknownMessage, discordCode.unknownEmoji)) throw error;
    }
  }
  return { react };
}

const reactionsOnly = messageShape.pick({ reactions: true }).extend({
  reactions: z
    .array(
      z.object({
        me: z.boolean(),
        emoji: z.object({ id: z.string().nullable(), name: z.string().nullable() }),
      }),
    )
    .default([]),
});
