import { z } from 'zod';
import type { Payload } from '../platform.ts';
import { messageFlag } from './wire.ts';

/** What one API call posts. It is stored between `render` and `deliver`, so it is JSON and checked on the way back. */
const payloadShape = z.object({
  content: z.string().optional(),
  embeds: z.array(z.record(z.string(), z.unknown())).optional(),
  components: z.array(z.record(z.string(), z.unknown())).optional(),
  file: z.object({ name: z.string(), path: z.string() }).optional(),
});
export type DiscordPayload = z.infer<typeof payloadShape>;

export const toPayload = (payload: DiscordPayload): Payload => payload;
export const readPayload = (payload: Payload): DiscordPayload => payloadShape.parse(payload);

/** Notifies nobody, whatever the text says. */
export const noMentions = { parse: [], replied_user: false } as const;

/**
 * The fields of a message; an edit writes all of them, so that buttons and embeds of before go. Links are not unfurled:
 * unfurling fetches them, and a model must not be able to call out that way.
 */
export function messageFields({ content, embeds, components }: DiscordPayload) {
  const flags = embeds === undefined ? messageFlag.suppressEmbeds : 0;
  return {
    content: content ?? '',
    embeds: embeds ?? [],
    components: components ?? [],
    flags,
    allowed_mentions: noMentions,
  };
}
