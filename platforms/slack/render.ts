import { toSlackMarkdown } from '../format/slack-markdown.ts';
import { escapeMrkdwn, toSlackMrkdwn } from '../format/slack-mrkdwn.ts';
import { splitMarkdown } from '../format/split.ts';
import type { OutboundContent, Payload } from '../platform.ts';
import { renderCard } from './cards.ts';
import type { SlackPayload, TextPayload } from './payloads.ts';

/** Slack advises 4,000 characters a message, and `chat.update` takes no more. */
export const textUnits = 3900;

const sectionCharacters = 3000;

export function render(content: OutboundContent): Payload[] {
  return renderAll(content);
}

function renderAll(content: OutboundContent): SlackPayload[] {
  switch (content.kind) {
    case 'text':
      return parts(content.markdown).map(renderText);
    case 'progress':
      return renderProgress(content.lines);
    case 'card':
      return [renderCard(content.card)];
    case 'file': {
      const comment = content.caption === undefined ? {} : { comment: toSlackMrkdwn(content.caption) };
      return [{ kind: 'file', path: content.path, name: content.name, ...comment }];
    }
  }
}

/** An unfinished answer, as far as one message shows it. */
export function renderDraft(markdown: string): TextPayload {
  return renderText(parts(markdown.slice(0, 2 * textUnits))[0] ?? '…');
}

/** Measured after escaping. The older markup may come out longer; it is cut where that matters. */
function parts(markdown: string): string[] {
  return splitMarkdown(markdown, { limit: textUnits, measure: (part) => toSlackMarkdown(part).length });
}

function renderText(markdown: string): TextPayload {
  return { kind: 'text', markdown: toSlackMarkdown(markdown), mrkdwn: toSlackMrkdwn(markdown) };
}

/** The newest steps that fit: an earlier one matters less. */
function renderProgress(lines: readonly string[]): SlackPayload[] {
  const kept: string[] = [];
  let length = 0;
  for (const line of lines.toReversed()) {
    const shown = escapeMrkdwn(line);
    length += shown.length + 1;
    if (length > sectionCharacters && kept.length > 0) break;
    kept.unshift(shown.slice(0, sectionCharacters));
  }
  const text = kept.join('\n');
  if (text.trim() === '') return [];
  return [
    {
      kind: 'blocks',
      text,
      blocks: [{ type: 'context', elements: [{ type: 'mrkdwn', text, verbatim: true }] }],
    },
  ];
}
