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
  for (const { name, find } of strategies) {
    const spans = find(text, needle);
    if (spans.length > 0) return { strategy: name, spans, fit: fitterOf(name, text, needle) };
  }
  return null;
}

interface Strategy {
  name: string;
  find(text: string, needle: string): MatchSpan[];
}

const byLine =
  (normalize: (line: string) => string) =>
  (text: string, needle: string): MatchSpan[] => {
    const wanted = needle.replace(/\n$/, '').split('\n').map(normalize);
    if (wanted.every((line) => line.trim() === '')) return [];
    return windowsOf(text, needle, (lines, row) =>
      wanted.every((line, index) => normalize(lines[row + index] ?? '') === line),
    );
  };

const collapse = (line: string): string => line.replaceAll(/\s+/g, ' ').trim();

const strategies: readonly Strategy[] = [
  { name: 'trailing white space', find: byLine((line) => line.trimEnd()) },
  { name: 'common indentation', find: findIndented },
  { name: 'trimmed lines', find: byLine((line) => line.trim()) },
  { name: 'white space', find: byLine(collapse) },
  { name: 'typographic characters', find: byLine((line) => collapse(plainPunctuation(line))) },
  { name: 'escapes', find: (text, needle) => findExact(text, plainEscapes(needle), needle) },
  { name: 'blank edges', find: (text, needle) => findExact(text, needle.trim(), needle) },
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

function findIndented(text: string, needle: string): MatchSpan[] {
  const wanted = dedent(needle.replace(/\n$/, '').split('\n'));
  if (wanted.every((line) => line.trim() === '')) return [];
  return windowsOf(text, needle, (lines, row) => {
    if (lines[row]?.trim() !== wanted[0]?.trim()) return false;
    return dedent(lines.slice(row, row + wanted.length)).every((line, index) => line === wanted[index]);
  });
}

/** Blocks of three lines or more whose ends agree and whose middle is much alike. */
function findAnchored(text: string, needle: string): MatchSpan[] {
  const wanted = needle.replace(/\n$/, '').split('\n').map(collapse);
  const [first, last] = [wanted[0], wanted.at(-1)];
  if (wanted.length < 3 || !first || !last) return [];
  const middle = wanted.slice(1, -1).join('\n');
  return windowsOf(text, needle, (lines, row) => {
    const end = row + wanted.length - 1;
    if (collapse(lines[row] ?? '') !== first || collapse(lines[end] ?? '') !== last) return false;
    return (
      likeness(
        middle,
        lines
          .slice(row + 1, end)
          .map(collapse)
          .join('\n'),
      ) >= 0.8
    );
  });
}

/** Every run of as many lines as the needle has that `accept` takes, without overlap. `accept` stops at the first line that differs. */
function windowsOf(
  text: string,
  needle: string,
  accept: (lines: readonly string[], row: number) => boolean,
): MatchSpan[] {
  const lines = text.split('\n');
  const height = needle.replace(/\n$/, '').split('\n').length;
  const starts: number[] = [0];
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length + 1);
  const spans: MatchSpan[] = [];
  for (let row = 0; row + height <= lines.length; row += 1) {
    if (!accept(lines, row)) continue;
    const end = (starts[row + height] ?? text.length + 1) - (needle.endsWith('\n') ? 0 : 1);
    spans.push({ start: starts[row] ?? 0, end: Math.min(end, text.length) });
    row += height - 1;
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
