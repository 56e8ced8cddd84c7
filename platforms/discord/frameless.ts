import { z } from 'zod';
import { textUnits } from './markdown.ts';
import type { DiscordPayload } from './payload.ts';

const embedShape = z.object({
  title: z.string().optional(),
  description: z.string().optional(),
  footer: z.object({ text: z.string() }).optional(),
});

/**
 * The same card as plain text, for a channel where the bot may not embed; its buttons stay. Null when it does not fit
 * into one message: nobody shall approve what he cannot read.
 */
export function withoutFrame({ embeds = [], ...payload }: DiscordPayload): DiscordPayload | null {
  const parts = embeds.map((embed) => {
    const { title = '', description = '', footer } = embedShape.parse(embed);
    return [`**${title}**`, description, footer?.text ?? ''].filter((line) => line !== '').join('\n');
  });
  const text = parts.join('\n');
  return text.length > textUnits ? null : { ...payload, content: text };
}
