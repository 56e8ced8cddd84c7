import { likeness } from './paths.ts';

/** Half-open range of a text. */
export interface MatchSpan {
  start: number;
  end: number;
}

export interface Match {
  strategy: string;
  spans: readonly MatchSpan[];
  /** The replacement as it fits the found place: indented like it where the needle was not. */
  fit(replacement: string, span: MatchSpan): string;
}

/**
 * Finds `needle` in `text`, from exact to tolerant: what models get wrong is white space, indentation, escapes and
 * typographic characters. The first strategy that finds anything decides. Null when none does.
 */
export function findMatches(text: string, needle: string): Match | null {
  if (needle === '') return null;
  const exact = findExact(text, needle);
  if (exact.length > 0) return { strategy: 'exact', spans: exact, fit: (replacement) => replacement };
  const search = prepare(text, needle);
  for (const { name, find } of strategies) {
    const spans = find(search);
    if (spans.length > 0) return { strategy: name, spans, fit: fitterOf(name, text, needle) };
  }
  return null;
}

interface Strategy {
  name: string;
  find(search: Search): MatchSpan[];
}

/** What all strategies look at, worked out once: texts may be long and the event loop must go on. */
interface Search {
  text: string;
  needle: string;
  lines: readonly string[];
  /** Where each line starts in the text. */
  starts: readonly number[];
  /** The needle's lines, without an empty one after its last line end. */
  wanted: readonly string[];
  /** Rows that can be the first of a match: they hold the longest word of the needle's first line. */
  rows: readonly number[];
}

function prepare(text: string, needle: string): Search {
  const lines = text.split('\n');
  const wanted = needle.replace(/\n$/, '').split('\n');
  const [word = ''] = (wanted[0]?.match(/[A-Za-z0-9_]+/g) ?? []).sort((a, b) => b.length - a.length);
  const starts: number[] = [];
  const rows: number[] = [];
  let start = 0;
  for (const [row, line] of lines.entries()) {
    starts.push(start);
    start += line.length + 1;
    if (row + wanted.length <= lines.length && line.includes(word)) rows.push(row);
  }
  return { text, needle, lines, starts, wanted, rows };
}

const byLine =
  (normalize: (line: string) => string) =>
  (search: Search): MatchSpan[] => {
    const wanted = search.wanted.map(normalize);
    if (wanted.every((line) => line.trim() === '')) return [];
    return windowsOf(search, (row) =>
      wanted.every((line, index) => normalize(search.lines[row + index] ?? '') === line),
    );
  };

const collapse = (line: string): string => line.replaceAll(/\s+/g, ' ').trim();

const strategies: readonly Strategy[] = [
  { name: 'trailing white space', find: byLine((line) => line.trimEnd()) },
  { name: 'common indentation', find: findIndented },
  { name: 'trimmed lines', find: byLine((line) => line.trim()) },
  { name: 'white space', find: byLine(collapse) },
  { name: 'typographic characters', find: byLine((line) => collapse(plainPunctuation(line))) },
  { name: 'escapes', find: ({ text, needle }) => findExact(text, plainEscapes(needle), needle) },
  { name: 'blank edges', find: ({ text, needle }) => findExact(text, needle.trim(), needle) },
  { name: 'first and last line', find: findAnchored },
];

function findExact(text: string, needle: string, tried?: string): MatchSpan[] {
  if (needle === '' || needle === tried) return [];
  const spans: MatchSpan[] = [];
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
    spans.push({ start: at, end: at + needle.length });
  }
  return spans;
}

function findIndented(search: Search): MatchSpan[] {
  const wanted = dedent(search.wanted);
  if (wanted.every((line) => line.trim() === '')) return [];
  return windowsOf(search, (row) => {
    if (search.lines[row]?.trim() !== wanted[0]?.trim()) return false;
    const found = dedent(search.lines.slice(row, row + wanted.length));
    return found.every((line, index) => line === wanted[index]);
  });
}

/** Blocks of three lines or more whose ends agree and whose middle is much alike. */
function findAnchored(search: Search): MatchSpan[] {
  const wanted = search.wanted.map(collapse);
  const [first, last] = [wanted[0], wanted.at(-1)];
  if (wanted.length < 3 || !first || !last) return [];
  const middle = wanted.slice(1, -1).join('\n');
  return windowsOf(search, (row) => {
    const end = row + wanted.length - 1;
    if (collapse(search.lines[row] ?? '') !== first || collapse(search.lines[end] ?? '') !== last)
      return false;
    const found = search.lines.slice(row + 1, end).map(collapse);
    return likeness(middle, found.join('\n')) >= 0.8;
  });
}

/** Every run of as many lines as the needle has that `accept` takes, without overlap. */
function windowsOf(
  { text, needle, starts, wanted, rows }: Search,
  accept: (row: number) => boolean,
): MatchSpan[] {
  const spans: MatchSpan[] = [];
  let free = 0;
  for (const row of rows) {
    if (row < free || !accept(row)) continue;
    free = row + wanted.length;
    const end = (starts[free] ?? text.length + 1) - (needle.endsWith('\n') ? 0 : 1);
    spans.push({ start: starts[row] ?? 0, end: Math.min(end, text.length) });
  }
  return spans;
}

const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? '';

function dedent(lines: readonly string[]): string[] {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => indentOf(line).length);
  const common = Math.min(...indents, Number.MAX_SAFE_INTEGER);
  return lines.map((line) => (line.trim() === '' ? '' : line.slice(common).trimEnd()));
}

const lookAlikes: readonly [RegExp, string][] = [
  [/[\u2018\u2019\u201A\u201B]/g, "'"],
  [/[\u201C\u201D\u201E\u201F]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/\u2026/g, '...'],
  [/[\u00A0\u2000-\u200A\u202F\u3000]/g, ' '],
  [/[\u200B\uFEFF]/g, ''],
];

const plainPunctuation = (line: string): string =>
  lookAlikes.reduce((plain, [shape, replacement]) => plain.replace(shape, replacement), line);

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '"': '"',
  "'": "'",
  '\\': '\\',
};

const plainEscapes = (text: string): string =>
  text.replaceAll(/\\([ntr"'\\])/g, (whole, key) => escapes[key] ?? whole);

function fitterOf(strategy: string, text: string, needle: string): Match['fit'] {
  if (strategy === 'escapes') return (replacement) => plainEscapes(replacement);
  if (strategy === 'blank edges') return (replacement) => replacement.trim();
  const firstLine = (block: string) => block.split('\n').find((line) => line.trim() !== '') ?? '';
  const wrote = indentOf(firstLine(needle));
  return (replacement, { start, end }) => {
    const there = indentOf(firstLine(text.slice(start, end)));
    if (wrote === there) return replacement;
    const shift = (line: string) =>
      line.startsWith(wrote) && line.trim() !== '' ? there + line.slice(wrote.length) : line;
    return replacement.split('\n').map(shift).join('\n');
  };
}
