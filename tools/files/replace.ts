import { findMatches } from './match.ts';

export type Replacement =
  | { ok: true; text: string; count: number; strategy: string }
  | { ok: false; reason: 'not_found' | 'not_unique'; message: string };

/** Replaces one place, or every place with `all`. Refuses a needle that names several places. */
export function replaceText(text: string, needle: string, replacement: string, all: boolean): Replacement {
  const match = findMatches(text, needle);
  if (!match) return { ok: false, reason: 'not_found', message: 'old_string was not found in the file.' };
  if (match.spans.length > 1 && !all) {
    const message = `old_string was found at ${match.spans.length} places. Add lines around it until it names one, or set replace_all.`;
    return { ok: false, reason: 'not_unique', message };
  }
  let result = '';
  let at = 0;
  for (const span of match.spans) {
    result += text.slice(at, span.start) + match.fit(replacement, span);
    at = span.end;
  }
  return { ok: true, text: result + text.slice(at), count: match.spans.length, strategy: match.strategy };
}
