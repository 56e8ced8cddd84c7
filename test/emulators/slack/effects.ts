import { type Effects, joinEffects } from '../effects.ts';
import { markdownLinks } from '../markdown-links.ts';
import type { Call } from './web-api.ts';

/** What every text of a call does: messages, edits, streams, comments to files, the status of a thread. */
export function effectsOfCall({ args }: Pick<Call, 'args'>): Effects {
  const { text = '', initial_comment: comment = '', markdown_text: markdown = '', status = '' } = args;
  const blocks: unknown = JSON.parse(args['blocks'] ?? '[]');
  const told = joinEffects([
    effectsOfMessage(`${text}\n${comment}\n${status}`, blocks),
    effectsOfMessage('', { type: 'markdown', text: markdown }),
  ]);
  // With either, Slack looks for names in plain text.
  const finds = args['link_names'] === 'true' || args['link_names'] === '1' || args['parse'] === 'full';
  return { links: told.links, pings: [...told.pings, ...(finds ? ['names in plain text'] : [])] };
}

/** docs.slack.dev/messaging/formatting-message-text: what stands in angle brackets is a ping or a link. */
export function effectsOfMessage(text: string, blocks: unknown): Effects {
  const { markdown, mrkdwn, targets } = markupIn(blocks);
  const tokens = [text, ...mrkdwn, ...markdown].flatMap((part) =>
    Array.from(part.matchAll(/<([^<>\n|]+)[^<>\n]*>/g), ([, token = '']) => token),
  );
  const isPing = (token: string) => /^[@!#]/.test(token) && !token.startsWith('!date^');
  const isLink = (token: string) => /^[a-z][a-z\d+.-]*:/i.test(token);
  return {
    pings: tokens.filter(isPing),
    links: [...tokens.filter(isLink), ...targets, ...markdown.flatMap(markdownLinks)],
  };
}

interface Markup {
  markdown: string[];
  mrkdwn: string[];
  /** Of links that are spelled out as elements. */
  targets: string[];
}

/** Every text of the blocks that Slack would read markup in. */
function markupIn(value: unknown, found: Markup = { markdown: [], mrkdwn: [], targets: [] }): Markup {
  if (typeof value !== 'object' || value === null) return found;
  const { type, text, url, ...rest } = Object.fromEntries(Object.entries(value));
  if (type === 'mrkdwn' && typeof text === 'string') found.mrkdwn.push(text);
  else if (type === 'markdown' && typeof text === 'string') found.markdown.push(text);
  else if (type === 'link' && typeof url === 'string') found.targets.push(url);
  for (const part of [text, ...Object.values(rest)]) markupIn(part, found);
  return found;
}
