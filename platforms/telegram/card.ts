import { GatewayError } from '../../src/errors.ts';
import { breakMentions, escapeHtml } from '../format/telegram-html.ts';
import { utf8Bytes } from '../format/units.ts';
import type { ButtonStyle, Card, CardBlock, TextSpan } from '../platform.ts';
import { textLimit } from './limits.ts';
import type { KeyboardButton, TelegramPayload } from './payload.ts';

const styles = {
  success: 'success',
  primary: 'primary',
  danger: 'danger',
  neutral: undefined,
} as const satisfies Record<ButtonStyle, string | undefined>;
const buttonsPerRow = 2;
const longestButtonId = 64;

/** A card as HTML with an inline keyboard. One that does not fit is refused, never cut: nobody approves the unseen. */
export function renderCard(card: Card): TelegramPayload {
  const parts = [`<b>${text(card.title)}</b>`, ...card.blocks.map(block)];
  if (card.footer !== undefined) parts.push(`<i>${text(card.footer)}</i>`);
  const html = parts.filter((part) => part !== '').join('\n\n');
  if (html.length > textLimit) {
    throw new GatewayError(
      'usage',
      `The card takes ${html.length} of ${textLimit} UTF-16 units after escaping.`,
      {
        mend: 'Send its long part as a file before it.',
      },
    );
  }
  return { kind: 'card', html, keyboard: card.buttons.flatMap(keyboardRows) };
}

/** Two a row: more are cut short on a phone. */
function keyboardRows(row: Card['buttons'][number]): KeyboardButton[][] {
  const buttons = row.map(({ id, label, style }): KeyboardButton => {
    if (utf8Bytes(id) > longestButtonId) {
      throw new GatewayError(
        'platform_refused',
        `A button id has ${utf8Bytes(id)} bytes; Telegram takes ${longestButtonId}.`,
      );
    }
    const colour = styles[style];
    return { text: label, callback_data: id, ...(colour !== undefined && { style: colour }) };
  });
  const rows: KeyboardButton[][] = [];
  for (let at = 0; at < buttons.length; at += buttonsPerRow) rows.push(buttons.slice(at, at + buttonsPerRow));
  return rows;
}

function block(part: CardBlock): string {
  switch (part.kind) {
    case 'text':
      return text(part.text);
    case 'code':
      return part.marks === undefined || part.marks.length === 0
        ? `<pre>${escapeHtml(part.text)}</pre>`
        : markedCode(part.text, part.marks);
    case 'facts':
      return part.facts.map(({ label, text: value }) => `<b>${text(label)}:</b> ${text(value)}`).join('\n');
  }
}

/**
 * Code with parts underlined. Telegram allows no other entity within code, so the code stops before a mark and goes on
 * after it.
 */
function markedCode(code: string, marks: readonly TextSpan[]): string {
  const mono = (from: number, to: number) =>
    from < to ? `<code>${escapeHtml(code.slice(from, to))}</code>` : '';
  let html = '';
  let at = 0;
  for (const { start, end } of marks.toSorted((a, b) => a.start - b.start)) {
    if (start < at || end <= start) continue;
    html += `${mono(at, start)}<u><b>${escapeHtml(code.slice(start, end))}</b></u>`;
    at = Math.min(end, code.length);
  }
  return html + mono(at, code.length);
}

function text(plain: string): string {
  return escapeHtml(breakMentions(plain));
}
