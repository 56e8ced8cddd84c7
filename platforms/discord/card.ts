import { codeBlock } from '../format/discord-markdown.ts';
import type { Card, CardBlock } from '../platform.ts';
import { renderButtons } from './buttons.ts';
import type { DiscordPayload } from './payload.ts';
import { cutTo, escapePlain, inlineCode } from './plain-escape.ts';

/** discord.com/developers/docs/resources/message#embed-object-embed-limits */
const limit = {
  title: 256,
  description: 4096,
  fields: 25,
  fieldName: 256,
  fieldText: 1024,
  footer: 2048,
  all: 6000,
} as const;
const colours: Readonly<Record<Card['tone'], number>> = {
  warning: 0xf0b232,
  question: 0x5865f2,
  success: 0x23a55a,
  danger: 0xda373c,
  neutral: 0x80848e,
};
const mostMarks = 5;
const markUnits = 60;

type CodeBlock = Extract<CardBlock, { kind: 'code' }>;

/**
 * A card as an embed. A command that does not fit is shown by its head and comes whole as a file in the same message,
 * so that nobody decides on what he cannot read.
 */
export function renderCard(card: Card): DiscordPayload {
  const title = cutTo(escapePlain(card.title), limit.title);
  const footer =
    card.footer === undefined || card.footer === '' ? undefined : cutTo(card.footer, limit.footer);
  const fields = fieldsOf(card);
  const taken = [title, footer ?? '', ...fields.flatMap(({ name, value }) => [name, value])].join('').length;
  const { text, cut } = describe(card, Math.min(limit.description, limit.all - taken));
  const embed = {
    title,
    color: colours[card.tone],
    ...(text === '' ? {} : { description: text }),
    ...(fields.length === 0 ? {} : { fields }),
    ...(footer === undefined ? {} : { footer: { text: footer } }),
  };
  return {
    embeds: [embed],
    components: renderButtons(card.buttons),
    ...(cut ? { file: { name: 'command.txt', text: wholeCode(card) } } : {}),
  };
}

const isCode = (block: CardBlock): block is CodeBlock => block.kind === 'code';
const wholeCode = (card: Card): string =>
  card.blocks
    .filter(isCode)
    .map(({ text }) => text)
    .join('\n\n');

/** Two thirds of the room at most, so that a long list of facts leaves some to the command. */
const fieldsRoom = 2000;

function fieldsOf(card: Card): { name: string; value: string; inline: boolean }[] {
  let room = fieldsRoom;
  return card.blocks
    .flatMap((block) => (block.kind === 'facts' ? block.facts : []))
    .slice(0, limit.fields)
    .flatMap(({ label, text }) => {
      const name = cutTo(escapePlain(label) || '—', limit.fieldName);
      const value = cutTo(
        escapePlain(text) || '—',
        Math.min(limit.fieldText, Math.max(1, room - name.length)),
      );
      room -= name.length + value.length;
      return room < 0 ? [] : [{ name, value, inline: value.length <= 24 }];
    });
}

function describe(card: Card, room: number): { text: string; cut: boolean } {
  const expiry =
    card.expiresAt === undefined || card.buttons.length === 0
      ? ''
      : `⏳ <t:${Math.floor(card.expiresAt / 1000)}:R>`;
  const texts = card.blocks.filter((block) => block.kind !== 'facts');
  const codeUnits = wholeCode(card).length;
  const whole = join(
    texts.map((block) => blockText(block, Number.POSITIVE_INFINITY)),
    expiry,
  );
  if (whole.length <= room) return { text: whole, cut: false };
  // What is not code takes its room first; the code blocks share the rest.
  const overhead = whole.length - codeUnits;
  const codes = Math.max(1, texts.filter(isCode).length);
  const share = Math.max(100, Math.floor((room - overhead) / codes) - fencesGrowth(card));
  const shortened = join(
    texts.map((block) => blockText(block, share)),
    expiry,
  );
  return { text: cutTo(shortened, room), cut: codeUnits > 0 };
}

/** How much longer the code grows where fences in it are broken. */
const fencesGrowth = (card: Card): number => wholeCode(card).split('```').length * 2;

const join = (parts: readonly string[], last: string): string =>
  [...parts, last].filter((part) => part !== '').join('\n');

function blockText(block: CardBlock, codeUnits: number): string {
  if (block.kind === 'text') return escapePlain(block.text);
  if (block.kind === 'facts') return '';
  const marks = (block.marks ?? [])
    .slice(0, mostMarks)
    .map(({ start, end }) => inlineCode(cutTo(block.text.slice(start, end), markUnits)))
    .filter((mark) => mark !== '');
  // Discord shows no bold within code, so what is marked is named below.
  return join([codeBlock(cutTo(block.text, codeUnits))], marks.length === 0 ? '' : `⚠️ ${marks.join(' ')}`);
}
