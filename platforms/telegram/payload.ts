import { z } from 'zod';
import { GatewayError } from '../../src/errors.ts';
import type { Payload } from '../platform.ts';

const buttonSchema = z.object({
  text: z.string(),
  callback_data: z.string(),
  style: z.enum(['success', 'primary', 'danger']).exactOptional(),
});
export type KeyboardButton = z.infer<typeof buttonSchema>;

/** What `render` makes and the outbox keeps. One is one message. */
const payloadSchema = z.discriminatedUnion('kind', [
  /** A part of an answer: Markdown, to be sent rich, else as HTML, else as it is. */
  z.object({ kind: z.literal('text'), markdown: z.string() }),
  z.object({ kind: z.literal('plain'), text: z.string() }),
  z.object({ kind: z.literal('card'), html: z.string(), keyboard: z.array(z.array(buttonSchema)) }),
  z.object({
    kind: z.literal('file'),
    path: z.string(),
    name: z.string(),
    as: z.enum(['photo', 'video', 'audio', 'voice', 'document', 'sticker']),
    /** HTML */
    caption: z.string().exactOptional(),
  }),
]);
export type TelegramPayload = z.infer<typeof payloadSchema>;

/** A payload from the outbox. Each kind is an object of JSON values, which is what the port asks for. */
export function readPayload(payload: Payload): TelegramPayload {
  const read = payloadSchema.safeParse(payload);
  if (read.success) return read.data;
  throw new GatewayError('usage', 'This payload was not rendered for Telegram.', { cause: read.error });
}
