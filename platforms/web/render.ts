import type { OutboundContent, Payload } from '../platform.ts';
import { type WebPayload, webPayload } from './message.ts';

/** Longest text of one message, in UTF-16 units: what a browser lays out without a stutter. */
export const textUnits = 60_000;

/** Turns content into what `deliver` takes. The page makes the markup itself, so text stays Markdown. */
export function renderWeb(content: OutboundContent): Payload[] {
  return payloadsOf(content).map((payload) => ({ ...payload }));
}

function payloadsOf(content: OutboundContent): WebPayload[] {
  switch (content.kind) {
    case 'text':
      return splitText(content.markdown, textUnits).map((markdown) => ({ kind: 'text', markdown }));
    case 'progress':
      return [{ kind: 'progress', lines: [...content.lines] }];
    case 'card':
      return [webPayload.parse({ kind: 'card', card: content.card })];
    case 'file': {
      const { path, name, caption } = content;
      return [{ kind: 'file', path, name, ...(caption !== undefined && { caption }) }];
    }
  }
}

/** Cuts at a line's end where one is near, never inside a surrogate pair; the pieces joined are the text. */
export function splitText(text: string, limit: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > limit) {
    const line = rest.lastIndexOf('\n', limit - 1) + 1;
    const pair = /[\ud800-\udbff]/.test(rest.charAt(limit - 1)) ? 1 : 0;
    const end = line > limit / 2 ? line : limit - pair;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...pieces, rest];
}
