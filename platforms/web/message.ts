import { z } from 'zod';

/**
 * What one message of the page is, as it is stored and as it goes to the browser. Stored values and payloads come
 * from disk, so both are parsed before use.
 */

const textSpan = z.object({ start: z.number(), end: z.number() });

const cardBlock = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({ kind: z.literal('code'), text: z.string(), marks: z.array(textSpan).exactOptional() }),
  z.object({
    kind: z.literal('facts'),
    facts: z.array(z.object({ label: z.string(), text: z.string() })),
  }),
]);

const cardButton = z.object({
  id: z.string(),
  label: z.string(),
  style: z.enum(['success', 'primary', 'danger', 'neutral']),
  confirm: z.string().exactOptional(),
  askInput: z.string().exactOptional(),
});

const card = z.object({
  title: z.string(),
  tone: z.enum(['warning', 'question', 'success', 'danger', 'neutral']),
  blocks: z.array(cardBlock),
  buttons: z.array(z.array(cardButton)),
  footer: z.string().exactOptional(),
  expiresAt: z.number().exactOptional(),
});

const text = z.object({ kind: z.literal('text'), markdown: z.string() });
const progress = z.object({ kind: z.literal('progress'), lines: z.array(z.string()) });
const cardBody = z.object({ kind: z.literal('card'), card });

/** A file in the adapter's own folder; `id` is its name there. */
export const storedFile = z.object({
  id: z.string(),
  name: z.string(),
  mimeType: z.string(),
  bytes: z.number(),
});
export type StoredFile = z.infer<typeof storedFile>;

/** One API call's worth: what `render` makes and `deliver` takes. */
export const webPayload = z.discriminatedUnion('kind', [
  text,
  progress,
  cardBody,
  z.object({
    kind: z.literal('file'),
    path: z.string(),
    name: z.string(),
    caption: z.string().exactOptional(),
  }),
]);
export type WebPayload = z.infer<typeof webPayload>;

const body = z.discriminatedUnion('kind', [
  text,
  progress,
  cardBody,
  z.object({ kind: z.literal('file'), file: storedFile, caption: z.string().exactOptional() }),
  /** What a person wrote: plain text, never read as Markdown. */
  z.object({ kind: z.literal('said'), text: z.string(), files: z.array(storedFile) }),
  /** Stays in the log so that a page which was away learns of it. */
  z.object({ kind: z.literal('removed') }),
]);
export type WebBody = z.infer<typeof body>;

export const webMessage = z.object({
  /** Unique in its chat. */
  id: z.string(),
  /** Grows with every change in the chat; the page asks for what is newer than the last that it saw. */
  revision: z.number(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** Idempotency key: one key is one message. */
  key: z.string(),
  replyTo: z.string().exactOptional(),
  body,
});
export type WebMessage = z.infer<typeof webMessage>;

export const chatIdShape = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'a chat id has 1 to 64 letters, digits, - and _');
