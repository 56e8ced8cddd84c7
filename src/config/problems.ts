import type { z } from 'zod';
import { isSecretKey } from './schema.ts';

type Issue = z.core.$ZodIssue;

/** What the schema wanted there, in words: "a number", "manual, smart or off". */
export function expected(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return typeWords[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return oneOf(issue.values.map((value) => String(value)));
    case 'too_small':
      return issue.origin === 'string' ? 'a text that is not empty' : `at least ${issue.minimum}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    case 'invalid_format':
      return issue.format === 'url'
        ? 'an address that begins with http:// or https://'
        : `a valid ${issue.format}`;
    case 'invalid_union':
      return expectedOfUnion(issue);
    case 'invalid_key':
      return 'a known name as the key';
    default:
      return issue.message;
  }
}

const typeWords: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a block of keys',
  record: 'a block of keys',
};

function expectedOfUnion(issue: Extract<Issue, { code: 'invalid_union' }>): string {
  if (issue.discriminator !== undefined) return 'exec or alias as the type';
  const words = issue.errors
    .flatMap((issues) => issues.slice(0, 1).map(expected))
    .filter((word) => word !== '');
  return [...new Set(words)].join(' or ');
}

function oneOf(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}

/** A value as it may be shown: short, on one line, and never a secret's. */
export function shownValue(path: string, value: unknown): string {
  if (isSecretKey(path)) return 'hidden, since it is a secret';
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** The known word that the typist most likely meant, or null. */
export function nearest(word: string, known: Iterable<string>): string | null {
  let best: { word: string; distance: number } | null = null;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate);
    if (best === null || distance < best.distance) best = { word: candidate, distance };
  }
  return best !== null && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.word : null;
}

/** Levenshtein's distance, row by row. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(substitution, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
