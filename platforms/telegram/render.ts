import { splitMarkdown } from '../format/split.ts';
import { breakMentions, toTelegramHtml } from '../format/telegram-html.ts';
import type { OutboundContent } from '../platform.ts';
import { renderCard } from './card.ts';
import { captionLimit, textLimit } from './limits.ts';
import type { TelegramPayload } from './payload.ts';

/** Content as messages of Telegram's. Pure. */
export function render(content: OutboundContent): TelegramPayload[] {
  switch (content.kind) {
    case 'text':
      return renderText(content.markdown);
    case 'progress':
      return [{ kind: 'plain', text: lastLines(content.lines) }];
    case 'card':
      return [renderCard(content.card)];
    case 'file': {
      const { path, name, as, caption = '' } = content;
      const html = toTelegramHtml(caption);
      const fits = html.length <= captionLimit;
      const file: TelegramPayload = {
        kind: 'file',
        path,
        name,
        as,
        ...(fits && html !== '' && { caption: html }),
      };
      return fits ? [file] : [file, ...renderText(caption)];
    }
  }
}

function renderText(markdown: string): TelegramPayload[] {
  return splitMarkdown(markdown, { limit: textLimit, measure }).map((part) => ({
    kind: 'text',
    markdown: part,
  }));
}

/** A part must fit in each of its forms, since any of them may be the one that gets through. */
function measure(markdown: string): number {
  return Math.max(toTelegramHtml(markdown).length, breakMentions(markdown).length);
}

/** Progress lives in one message that is edited: of too many lines the last ones show. */
function lastLines(lines: readonly string[]): string {
  const shown: string[] = [];
  let room = textLimit - 2;
  for (const line of lines.toReversed()) {
    const safe = breakMentions(line).slice(0, 500).toWellFormed();
    if (safe.length + 1 > room) return ['…', ...shown].join('\n');
    shown.unshift(safe);
    room -= safe.length + 1;
  }
  return shown.join('\n');
}
