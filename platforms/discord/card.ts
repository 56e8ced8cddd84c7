import { GatewayError } from '../../src/errors.ts';
import { codeBlock } from '../format/discord-markdown.ts';
import type { Card, CardBlock } from '../platform.ts';
import { renderButtons } from './buttons.ts';
import type { DiscordPayload } from './payload.ts';
import { cutTo, escapePlain, inlineCode } from './plain-escape.ts';

/** discord.com/developers/docs/resources/message#embed-object-embed-limits */
const limit = { title: 256, description: 4096, footer: 2048, all: 6000 } as const;
const colours: Readonly<Record<Card['tone'], number>> = {
  warning: 0xf0b232,
  question: 0x5865f2,
  success: 0x23a55a,
  danger: 0xda373c,
  neutral: 0x80848e,
};
const mostMarks = 5;
const markUnits = 60;

/** A card as an embed. One that does not fit is refused, never cut: nobody approves the unseen. */
export function renderCard(card: Card): DiscordPayload {
  const whole = escapePlain(card.title);
  const title = cutTo(whole, limit.title);
  const lines = [title === whole ? '' : whole, ...card.blocks.map(block), countdown(card)];
  const description = lines.filter((line) => line !== '').join('\n');
  const { footer = '' } = card;
  const sizes = [description.length - limit.description, footer.length - limit.footer];
  const over = Math.max(...sizes, title.length + description.length + footer.length - limit.all);
  if (over > 0) {
    throw new GatewayError('usage', `The card is ${over} characters too long for Discord.`, {
      mend: 'Send its long part as a file before it.',
    });
  }
  const embed = {
    title,
    color: colours[card.tone],
    ...(description === '' ? {} : { description }),
    ...(footer === '' ? {} : { footer: { text: footer } }),
  };
  return { embeds: [embed], components: renderButtons(card.buttons) };
}

/** Discord's own clients count it down. */
function countdown({ expiresAt, buttons }: Card): string {
  return expiresAt === undefined || buttons.length === 0 ? '' : `⏳ <t:${Math.floor(expiresAt / 1000)}:R>`;
}

function block(part: CardBlock): string {
  switch (part.kind) {
    case 'text':
      return escapePlain(part.text);
    case 'facts':
      return part.facts
        .map(({ label, text }) => `**${escapePlain(label)}:** ${escapePlain(text)}`)
        .join('\n');
    case 'code':
      return [codeBlock(part.text), markLine(part)].filter((line) => line !== '').join('\n');
  }
}

/** Discord shows no bold within code, so what is marked is named below. */
function markLine({ text, marks = [] }: Extract<CardBlock, { kind: 'code' }>): string {
  const named = marks
    .slice(0, mostMarks)
    .map(({ start, end }) => inlineCode(cutTo(text.slice(start, end), markUnits)))
    .filter((mark) => mark !== '');
  return named.length === 0 ? '' : `⚠️ ${named.join(' ')}`;
}
