import { GatewayError } from '../../src/errors.ts';
import { messagesFor } from '../../src/messages/messages.ts';
import { escapeMrkdwn } from '../format/slack-mrkdwn.ts';
import type { ButtonStyle, Card, CardBlock, CardButton, TextSpan } from '../platform.ts';
import { writeButtonValue } from './button-value.ts';
import type { Block, SlackPayload } from './payloads.ts';
import { cut } from './text-message.ts';

/** Block Kit's own limits. docs.slack.dev/reference/block-kit/blocks */
const sectionCharacters = 3000;
const mostBlocks = 50;
const labelCharacters = 75;
/** Well within what a message may hold in all, and more than anyone reads in a card. */
const cardCharacters = 12_000;

const toneSign: Readonly<Record<Card['tone'], string>> = {
  warning: '⚠️',
  question: '❓',
  success: '✅',
  danger: '⛔',
  neutral: 'ℹ️',
};

/** Slack knows two colours; `primary` (green) is for the one button that lets things happen. */
const slackStyle: Readonly<Record<ButtonStyle, { style?: string }>> = {
  success: { style: 'primary' },
  primary: {},
  danger: { style: 'danger' },
  neutral: {},
};

/** Throws when the card does not fit: nobody approves what is cut off. */
export function renderCard(card: Card): SlackPayload {
  const title = `${signOf(card)}*${escapeMrkdwn(card.title)}*`;
  const footer = footerText(card);
  const buttons = card.buttons.flat();
  const blocks: Block[] = [
    section(title),
    ...card.blocks.flatMap(renderBlock),
    ...(footer === '' ? [] : [{ type: 'context', elements: [mrkdwn(footer)] }]),
    ...(buttons.length === 0 ? [] : [{ type: 'actions', elements: buttons.map(renderButton) }]),
  ];
  if (blocks.length > mostBlocks || Math.max(title.length, footer.length) > sectionCharacters)
    throw tooLarge();
  if (lengthOf(card) > cardCharacters) throw tooLarge();
  return { kind: 'blocks', text: title, blocks };
}

function lengthOf({ blocks }: Card): number {
  const lengths = blocks.map((block) =>
    block.kind === 'facts'
      ? block.facts.reduce((sum, fact) => sum + fact.label.length + fact.text.length, 0)
      : block.text.length,
  );
  return lengths.reduce((sum, length) => sum + length, 0);
}

function tooLarge(): GatewayError {
  return new GatewayError(
    'platform_refused',
    `The card is larger than Slack shows: ${cardCharacters} characters at the most`,
  );
}

/** A title that begins with a sign of its own needs no second one. */
function signOf({ title, tone }: Card): string {
  return /^\p{Extended_Pictographic}/u.test(title) ? '' : `${toneSign[tone]} `;
}

function renderBlock(block: CardBlock): Block[] {
  switch (block.kind) {
    case 'text':
      return block.text === '' ? [] : [rich('rich_text_section', [literal(block.text)])];
    case 'facts':
      if (block.facts.length === 0) return [];
      return [
        rich(
          'rich_text_section',
          block.facts.flatMap(({ label, text }, index) => [
            literal(`${index === 0 ? '' : '\n'}${label}: `, { bold: true }),
            literal(text === '' ? '–' : text),
          ]),
        ),
      ];
    case 'code':
      return block.text === '' ? [] : [renderCode(block.text, block.marks ?? [])];
  }
}

/**
 * Rich text is literal: no escaping, no mention, nothing cut. A preformatted element cannot show parts in bold, so
 * code with marks is written as inline code instead.
 */
function renderCode(text: string, marks: readonly TextSpan[]): Block {
  if (marks.length === 0) return rich('rich_text_preformatted', [literal(text)]);
  const elements: Block[] = [];
  let at = 0;
  for (const { start, end } of marks.toSorted((a, b) => a.start - b.start)) {
    if (start < at || end <= start || end > text.length) continue;
    if (start > at) elements.push(literal(text.slice(at, start), { code: true }));
    elements.push(literal(text.slice(start, end), { code: true, bold: true }));
    at = end;
  }
  if (at < text.length) elements.push(literal(text.slice(at), { code: true }));
  return rich('rich_text_section', elements);
}

function renderButton({ id, label, style, confirm, cancelLabel, askInput }: CardButton): Block {
  const shown = clip(label, labelCharacters);
  return {
    type: 'button',
    action_id: id,
    text: { type: 'plain_text', text: shown, emoji: true },
    value: writeButtonValue({ id, label: shown, ...(askInput === undefined ? {} : { ask: askInput }) }),
    ...slackStyle[style],
    ...(confirm === undefined ? {} : { confirm: confirmDialog(confirm, shown, cancelLabel) }),
  };
}

function confirmDialog(question: string, label: string, cancel = messagesFor(undefined).card.cancel): Block {
  return {
    title: { type: 'plain_text', text: clip(label, 100) },
    text: { type: 'plain_text', text: clip(question, 300) },
    confirm: { type: 'plain_text', text: clip(label, 30) },
    deny: { type: 'plain_text', text: clip(cancel, 30) },
  };
}

/** Slack shows a date in each reader's own time zone. */
function footerText({ footer, expiresAt }: Card): string {
  const text = footer === undefined ? '' : escapeMrkdwn(footer);
  if (expiresAt === undefined) return text;
  const fallback = new Date(expiresAt).toISOString().slice(11, 16);
  const until = `⏳ <!date^${Math.floor(expiresAt / 1000)}^{time}|${fallback} UTC>`;
  return text === '' ? until : `${text} · ${until}`;
}

function section(text: string): Block {
  return { type: 'section', text: mrkdwn(text) };
}

function mrkdwn(text: string): Block {
  return { type: 'mrkdwn', text, verbatim: true };
}

function rich(type: string, elements: Block[]): Block {
  return { type: 'rich_text', elements: [{ type, elements }] };
}

function literal(text: string, style?: Record<string, boolean>): Block {
  return { type: 'text', text, ...(style === undefined ? {} : { style }) };
}

function clip(text: string, size: number): string {
  return text.length <= size ? text : `${cut(text, size - 1)}…`;
}
