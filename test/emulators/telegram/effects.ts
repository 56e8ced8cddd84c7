import { type Effects, joinEffects } from '../effects.ts';
import { markdownLinks } from '../markdown-links.ts';
import type { Call } from './telegram-emulator.ts';
import { type Fields, isFields } from './wire.ts';

const none: Effects = { pings: [], links: [] };

/** What every text of a call does, drafts and edits included. */
export function effectsOfCall({ method, fields }: Pick<Call, 'method' | 'fields'>): Effects {
  // A toast is shown as it is.
  if (method === 'answerCallbackQuery') return none;
  const { text, caption, parse_mode: parseMode, rich_message: rich } = fields;
  const said = [text, caption].filter((part) => typeof part === 'string');
  return joinEffects([
    ...said.map((part) => effectsOfText(part, parseMode === 'HTML')),
    isFields(rich) ? effectsOfRich(rich) : none,
  ]);
}

/** Telegram finds `@name` by itself, except in code. core.telegram.org/bots/api#messageentity */
export function effectsOfText(text: string, isHtml: boolean): Effects {
  const links = isHtml
    ? Array.from(text.matchAll(/<a\s[^>]*href="([^"]*)"/g), ([, target = '']) => target)
    : [];
  const read = isHtml
    ? text.replace(/<(pre|code)\b[^>]*>[\s\S]*?<\/\1>/g, ' ').replace(/<[^>]*>/g, '')
    : text;
  return withPeople(links, mentions(read));
}

export function effectsOfRich({ markdown, skip_entity_detection: skips }: Fields): Effects {
  const text = String(markdown ?? '');
  return withPeople(markdownLinks(text), skips === true ? [] : mentions(text));
}

const mentions = (text: string): string[] => text.match(/(?<![\w@])@\w{3,}/g) ?? [];

/** A link to a person is a mention. */
function withPeople(links: readonly string[], mentioned: readonly string[]): Effects {
  return { links, pings: [...mentioned, ...links.filter((link) => link.startsWith('tg://user'))] };
}
