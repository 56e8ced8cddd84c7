import { toDiscordMarkdown } from '../format/discord-markdown.ts';
import { splitMarkdown } from '../format/split.ts';

/** discord.com/developers/docs/resources/message#create-message */
export const textUnits = 2000;

/** A model's Markdown as the texts of as many messages as it takes. */
export function renderText(markdown: string): string[] {
  const measure = (part: string): number => toDiscordMarkdown(part).length;
  return splitMarkdown(markdown, { limit: textUnits, measure })
    .map(toDiscordMarkdown)
    .filter((text) => text !== '');
}
