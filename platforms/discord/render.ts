import type { OutboundContent, Payload } from '../platform.ts';
import { renderCard } from './card.ts';
import { renderText, textUnits } from './markdown.ts';
import { toPayload } from './payload.ts';
import { cutTo, escapePlain } from './plain-escape.ts';

/** Content as payloads, each one message of Discord's. Pure. */
export function render(content: OutboundContent): Payload[] {
  switch (content.kind) {
    case 'text':
      return renderText(content.markdown).map((text) => toPayload({ content: text }));
    case 'progress':
      return [toPayload({ content: progressText(content.lines) })];
    case 'card':
      return [toPayload(renderCard(content.card))];
    case 'file': {
      const { path, name, caption = '' } = content;
      const [first, ...rest] = caption === '' ? [] : renderText(caption);
      const file = toPayload({ ...(first === undefined ? {} : { content: first }), file: { name, path } });
      return [file, ...rest.map((text) => toPayload({ content: text }))];
    }
  }
}

/** Progress lives in one message that is edited: of too many lines the last ones show. */
function progressText(lines: readonly string[]): string {
  const shown: string[] = [];
  let room = textUnits - 2;
  for (const line of lines.toReversed()) {
    const escaped = cutTo(escapePlain(line), 500);
    if (escaped.length + 1 > room) return ['…', ...shown].join('\n');
    shown.unshift(escaped);
    room -= escaped.length + 1;
  }
  return shown.join('\n');
}
