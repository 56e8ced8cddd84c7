import type { TextPayload } from './payloads.ts';

/** Slack's Markdown block, or sections in its older markup. */
export type TextForm = 'markdown' | 'mrkdwn';

/** The longest text that `chat.update` takes. */
const updatableCharacters = 4000;
const sectionCharacters = 3000;

/** Arguments that post or edit a text in this form. `text` is what notifications show. */
export function textMessage({ markdown, mrkdwn }: TextPayload, form: TextForm): Record<string, unknown> {
  const text = mrkdwn.length > updatableCharacters ? `${cut(mrkdwn, updatableCharacters - 1)}…` : mrkdwn;
  if (form === 'markdown') return { text, blocks: [{ type: 'markdown', text: markdown }] };
  return { text, blocks: sections(mrkdwn) };
}

function sections(mrkdwn: string): unknown[] {
  const parts: string[] = [];
  for (let rest = mrkdwn; rest !== ''; ) {
    const newline = rest.length > sectionCharacters ? rest.lastIndexOf('\n', sectionCharacters - 1) : -1;
    const part = newline > 0 ? rest.slice(0, newline + 1) : cut(rest, sectionCharacters);
    parts.push(part);
    rest = rest.slice(part.length);
  }
  return parts.map((text) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }));
}

/** Never ends between the halves of a surrogate pair, nor within an entity. */
export function cut(text: string, size: number): string {
  if (text.length <= size) return text;
  return text.slice(0, size).replace(/[\uD800-\uDBFF]$|&[a-z]{0,3}$/, '');
}
