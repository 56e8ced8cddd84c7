import { z } from 'zod';
import { createOwnMarks } from '../own-marks.ts';
import type { ChatAddress } from '../platform.ts';
import type { DiscordApi } from './api.ts';
import { discordCode, refusedWith } from './errors.ts';
import type { Holding } from './holding.ts';
import type { DiscordDeps } from './options.ts';
import { isSnowflake, timeOfSnowflake } from './snowflake.ts';
import { messageShape } from './wire.ts';

export interface ReactionDeps extends DiscordDeps {
  api: DiscordApi;
  holding: Holding;
}

/** The bot's one reaction on a message: a new one takes the place of the last, null takes it away. */
export function createReactions({ api, holding, clock }: ReactionDeps) {
  const marks = createOwnMarks(clock);

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
    const message = { id: messageId, sentAtMs: timeOfSnowflake(messageId) };
    const before = marks.on(message);
    try {
      if (emoji !== null)
        await api.run({ method: 'put', path: own(emoji), what: 'react to a message', signal });
      const old = before === undefined ? await marksOn(path, signal) : before === null ? [] : [before];
      for (const name of old.filter((each) => each !== emoji))
        await api.run({ method: 'delete', path: own(name), what: 'take a reaction back', signal });
      marks.note(message, emoji);
    } catch (error) {
      marks.forget(message);
      if (!refusedWith(error, discordCode.unknownMessage, discordCode.unknownEmoji)) throw error;
    }
  }

  async function marksOn(path: `/${string}`, signal: AbortSignal): Promise<string[]> {
    const message = await api.call({ method: 'get', path, what: 'read reactions', signal }, reactionsOnly);
    return message.reactions
      .filter(({ me, emoji: { name } }) => me && name !== null)
      .map(({ emoji: { id, name } }) => (id === null ? (name ?? '') : `${name}:${id}`));
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
