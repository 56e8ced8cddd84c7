import { z } from 'zod';
import type { Payload } from '../platform.ts';

const button = z.object({
  text: z.string(),
  callback_data: z.string(),
  style: z.enum(['success', 'primary', 'danger']).exactOptional(),
});

/** What `render` makes and `deliver` sends: one call of the Bot API, with the forms to fall back to. */
const payloadSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), rich: z.string(), html: z.string(), plain: z.string() }),
  z.object({
    kind: z.literal('card'),
    html: z.string(),
    plain: z.string(),
    keyboard: z.array(z.array(button)),
  }),
  z.object({
    kind: z.literal('file'),
    path: z.string(),
    name: z.string(),
    as: z.enum(['photo', 'video', 'audio', 'voice', 'document', 'sticker']),
    caption: z.string(),
  }),
]);

export type TelegramPayload = z.infer<typeof payloadSchema>;
export type TelegramButton = z.infer<typeof button>;

/** Payloads come back from the store, where another version of the program may have put them. */
export function readPayload(payload: Payload): TelegramPayload {
  return payloadSchema.parse(payload);
}
