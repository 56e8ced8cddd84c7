import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { DiscordPayload } from './payload.ts';
import type { WireMessage } from './wire.ts';

/** At most 25 characters; Discord answers a repeated one with the message that it made the first time. */
export const nonceOf = (key: string): string =>
  createHash('sha256').update(key).digest('base64url').slice(0, 25);

const customIds = z.array(
  z.object({ components: z.array(z.object({ custom_id: z.string().optional() })).default([]) }),
);
const embedTexts = z.array(z.object({ title: z.string().optional(), description: z.string().optional() }));

/** Whether a message of the bot's shows what the payload says. */
export function sameMessage(message: WireMessage, payload: DiscordPayload): boolean {
  const looks = (content: string, embeds: unknown, components: unknown, file: string | undefined): string =>
    JSON.stringify([
      content.trim(),
      embedTexts.parse(embeds).map(({ title, description }) => [title, description?.trim()]),
      customIds.parse(components).flatMap((row) => row.components.map(({ custom_id: id }) => id)),
      file,
    ]);
  const sent = looks(message.content, message.embeds, message.components, message.attachments[0]?.filename);
  return (
    sent === looks(payload.content ?? '', payload.embeds ?? [], payload.components ?? [], payload.file?.name)
  );
}
