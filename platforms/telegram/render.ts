import { GatewayError } from '../../src/errors.ts';
import { splitMarkdown } from '../format/split.ts';
import { breakMentions, escapeHtml, toTelegramHtml } from '../format/telegram-html.ts';
import { toTelegramRich } from '../format/telegram-rich.ts';
import type { ButtonStyle, Card, CardBlock, OutboundContent, TextSpan } from '../platform.ts';
import { callbackBytes, captionLimit, textLimit } from './capabilities.ts';
import type { TelegramButton, TelegramPayload } from './payload.ts';

/** Content as calls of the Bot API. A text over the limit becomes several; a card that does not fit is refused. */
export function render(content: OutboundContent): TelegramPayload[] {
  switch (content.kind) {
    case 'text':
      return splitMarkdown(content.markdown, { limit: textLimit, measure: shownUnits }).map(textPayload);
    case 'progress': {
      const plain = content.lines.join('\n').slice(0, textLimit);
      return [{ kind: 'text', rich: '', html: escapeHtml(breakMentions(plain)), plain }];
    }
    case 'card':
      return [cardPayload(content.card)];
    case 'file': {
      const { path, name, as, caption = '' } = content;
      return [{ kind: 'file', path, name, as, caption: caption.slice(0, captionLimit) }];
    }
  }
}

function textPayload(markdown: string): TelegramPayload {
  return {
    kind: 'text',
    rich: toTelegramRich(markdown),
    html: toTelegramHtml(markdown),
    plain: markdown.slice(0, textLimit),
  };
}

/** Telegram counts what is left after its markup is read. Bot API: sendMessage, text. */
function shownUnits(markdown: string): number {
  return plainOf(toTelegramHtml(markdown)).length;
}

function plainOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

function cardPayload(card: Card): TelegramPayload {
  const parts = [`<b>${escapeHtml(card.title)}</b>`, ...card.blocks.map(blockHtml)];
  if (card.footer) parts.push(`<i>${escapeHtml(card.footer)}</i>`);
  const html = parts.join('\n\n');
  const plain = plainOf(html);
  if (plain.length > textLimit) {
    throw new GatewayError('usage', `The card has ${plain.length} characters; Telegram shows ${textLimit}.`);
  }
  return { kind: 'card', html, plain, keyboard: card.buttons.map((row) => row.map(toButton)) };
}

function blockHtml(block: CardBlock): string {
  switch (block.kind) {
    case 'text':
      return escapeHtml(breakMentions(block.text));
    case 'code':
      return `<pre>${escapeHtml(block.text)}</pre>${marksHtml(block.text, block.marks ?? [])}`;
    case 'facts':
      return block.facts
        .map(({ label, text }) => `<b>${escapeHtml(label)}:</b> ${escapeHtml(breakMentions(text))}`)
        .join('\n');
  }
}

/** Code can hold no other markup on Telegram, so what is marked stands below it. Bot API: formatting options. */
function marksHtml(text: string, marks: readonly TextSpan[]): string {
  const marked = marks
    .map(({ start, end }) => text.slice(start, end).trim())
    .filter((part) => part !== '' && part !== text.trim());
  return [...new Set(marked)].map((part) => `\n👉 <u>${escapeHtml(part.slice(0, 200))}</u>`).join('');
}

const styles: { readonly [style in ButtonStyle]: NonNullable<TelegramButton['style']> | null } = {
  success: 'success',
  primary: 'primary',
  danger: 'danger',
  neutral: null,
};

function toButton({ id, label, style }: Card['buttons'][number][number]): TelegramButton {
  if (Buffer.byteLength(id) > callbackBytes)
    throw new GatewayError('usage', `The button id ${id} is longer than ${callbackBytes} bytes.`);
  const colour = styles[style];
  return { text: label, callback_data: id, ...(colour && { style: colour }) };
}
