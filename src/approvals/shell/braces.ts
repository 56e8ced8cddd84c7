/** More alternatives than this are not followed; the caller is told by a cut list. */
export const MAX_ALTERNATIVES = 64;

/**
 * Brace expansion over the raw text of one word (Bash manual, 3.5.1), quotes and `${…}` left alone. Returns the
 * raw text of each resulting word, at most `MAX_ALTERNATIVES`.
 */
export function expandBraces(raw: string): string[] {
  const done: string[] = [];
  const waiting = [raw];
  while (waiting.length > 0 && done.length + waiting.length <= MAX_ALTERNATIVES) {
    const text = waiting.shift() ?? '';
    const group = findGroup(text);
    if (group === null) done.push(text);
    else {
      const before = text.slice(0, group.start);
      const after = text.slice(group.end);
      waiting.unshift(...group.items.map((item) => `${before}${item}${after}`));
    }
  }
  return [...done, ...waiting].slice(0, MAX_ALTERNATIVES);
}

interface Group {
  start: number;
  end: number;
  items: string[];
}

/** The first brace group that expands: it has a comma at its own level or is a range. */
function findGroup(text: string): Group | null {
  let at = 0;
  while (at < text.length) {
    const next = skipQuoted(text, at);
    if (next > at) {
      at = next;
      continue;
    }
    if (text[at] === '{') {
      const group = readGroup(text, at);
      if (group !== null) return group;
    }
    at += 1;
  }
  return null;
}

function readGroup(text: string, start: number): Group | null {
  const items: string[] = [];
  let depth = 0;
  let from = start + 1;
  let at = start;
  while (at < text.length) {
    const next = skipQuoted(text, at);
    if (next > at) {
      at = next;
      continue;
    }
    const char = text[at];
    if (char === '{') depth += 1;
    else if (char === ',' && depth === 1) {
      items.push(text.slice(from, at));
      from = at + 1;
    } else if (char === '}') {
      depth -= 1;
      if (depth === 0) {
        if (items.length > 0) return { start, end: at + 1, items: [...items, text.slice(from, at)] };
        const range = expandRange(text.slice(from, at));
        return range === null ? null : { start, end: at + 1, items: range };
      }
    }
    at += 1;
  }
  return null;
}

/** Past a quoted piece, an escape or an expansion that starts at `at`; `at` itself when none does. */
function skipQuoted(text: string, at: number): number {
  const char = text[at];
  if (char === '\\') return at + 2;
  if (char === "'" || char === '"' || char === '`') {
    const close = text.indexOf(char, at + 1);
    return close < 0 ? text.length : close + 1;
  }
  if (char === '$' && (text[at + 1] === '{' || text[at + 1] === '(')) {
    const open = text[at + 1];
    const shut = open === '{' ? '}' : ')';
    let depth = 0;
    for (let index = at + 1; index < text.length; index += 1) {
      if (text[index] === open) depth += 1;
      else if (text[index] === shut) depth -= 1;
      if (depth === 0) return index + 1;
    }
    return text.length;
  }
  return at;
}

/** `1..9`, `a..e`, `0..10..2`; long ranges keep their first items and their last. */
function expandRange(body: string): string[] | null {
  const match = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(body);
  if (match === null) return null;
  const [, first = '', last = '', stepText] = match;
  const letters = /[A-Za-z]/.test(first);
  if (letters !== /[A-Za-z]/.test(last)) return null;
  const from = letters ? first.charCodeAt(0) : Number(first);
  const to = letters ? last.charCodeAt(0) : Number(last);
  const step = Math.max(1, Math.abs(Number(stepText ?? 1))) * (to < from ? -1 : 1);
  const items: string[] = [];
  for (let value = from; step > 0 ? value <= to : value >= to; value += step) {
    if (items.length >= MAX_ALTERNATIVES / 4) {
      items.push(letters ? last : String(to));
      break;
    }
    items.push(letters ? String.fromCharCode(value) : String(value));
  }
  return items;
}
