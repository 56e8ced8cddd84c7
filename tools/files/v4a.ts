import { findMatches } from './match.ts';

/** A patch in the V4A form: `*** Begin Patch`, one section a file, `*** End Patch`. */
export type FileChange =
  | { kind: 'update'; path: string; moveTo: string | null; hunks: readonly Hunk[] }
  | { kind: 'add'; path: string; text: string }
  | { kind: 'delete'; path: string }
  | { kind: 'move'; path: string; moveTo: string };

export interface Hunk {
  /** The text after `@@`: a line at or above which the hunk stands. */
  anchor: string;
  before: readonly string[];
  after: readonly string[];
}

/** The patch cannot be read or does not apply; the message is for the model. */
export class PatchProblem extends Error {}

const headers: readonly { shape: RegExp; kind: FileChange['kind'] }[] = [
  { shape: /^\*\*\* Update File: (.+)$/, kind: 'update' },
  { shape: /^\*\*\* Add File: (.+)$/, kind: 'add' },
  { shape: /^\*\*\* Delete File: (.+)$/, kind: 'delete' },
  { shape: /^\*\*\* Move File: (.+)$/, kind: 'move' },
];

export function parsePatch(patch: string): FileChange[] {
  const lines = patch.replaceAll('\r\n', '\n').trim().split('\n');
  if (lines[0]?.trim() !== '*** Begin Patch' || lines.at(-1)?.trim() !== '*** End Patch') {
    throw new PatchProblem('A patch starts with "*** Begin Patch" and ends with "*** End Patch".');
  }
  const changes: FileChange[] = [];
  const body = lines.slice(1, -1);
  for (let at = 0; at < body.length; ) {
    const line = body[at] ?? '';
    if (line.trim() === '') {
      at += 1;
      continue;
    }
    const next = body.findIndex((each, index) => index > at && headers.some(({ shape }) => shape.test(each)));
    const end = next === -1 ? body.length : next;
    changes.push(parseSection(line, body.slice(at + 1, end)));
    at = end;
  }
  if (changes.length === 0) throw new PatchProblem('The patch changes no file.');
  return changes;
}

function parseSection(header: string, lines: readonly string[]): FileChange {
  for (const { shape, kind } of headers) {
    const named = shape.exec(header)?.[1]?.trim();
    if (named === undefined) continue;
    switch (kind) {
      case 'add':
        return { kind, path: checkedPath(named), text: addedText(lines) };
      case 'delete':
        return { kind, path: checkedPath(named) };
      case 'move': {
        const [path, moveTo] = named.split(/\s+->\s+/);
        if (!path || !moveTo) throw new PatchProblem('A move is written "*** Move File: old -> new".');
        return { kind, path: checkedPath(path), moveTo: checkedPath(moveTo) };
      }
      case 'update':
        return parseUpdate(checkedPath(named), lines);
    }
  }
  throw new PatchProblem(`"${header.slice(0, 80)}" is no header: Update, Add, Delete or Move File.`);
}

function checkedPath(path: string): string {
  if (path.split('/').includes('..'))
    throw new PatchProblem(`"${path}": ".." is not allowed in a patch. Write the whole path.`);
  return path;
}

function addedText(lines: readonly string[]): string {
  const odd = lines.find((line) => !line.startsWith('+') && line.trim() !== '');
  if (odd !== undefined)
    throw new PatchProblem(`Each line of an added file starts with "+", but not "${odd.slice(0, 80)}".`);
  return lines
    .filter((line) => line.startsWith('+'))
    .map((line) => `${line.slice(1)}\n`)
    .join('');
}

function parseUpdate(path: string, lines: readonly string[]): FileChange {
  const moved = /^\*\*\* Move to: (.+)$/.exec(lines[0] ?? '')?.[1]?.trim();
  const hunks: { anchor: string; before: string[]; after: string[] }[] = [];
  for (const line of lines.slice(moved === undefined ? 0 : 1)) {
    if (line === '*** End of File') continue;
    if (line.startsWith('@@')) {
      hunks.push({ anchor: line.replaceAll(/^@@\s*|\s*@@$/g, ''), before: [], after: [] });
      continue;
    }
    if (hunks.length === 0) hunks.push({ anchor: '', before: [], after: [] });
    const hunk = hunks.at(-1);
    const text = line.slice(1);
    if (!line.startsWith('+')) hunk?.before.push(/^[ -]/.test(line) ? text : line);
    if (!line.startsWith('-')) hunk?.after.push(/^[ +]/.test(line) ? text : line);
  }
  const used = hunks.map(withoutBlankTail).filter(({ before, after }) => before.length + after.length > 0);
  if (used.length === 0 && moved === undefined) throw new PatchProblem(`The update of ${path} has no hunk.`);
  return { kind: 'update', path, moveTo: moved === undefined ? null : checkedPath(moved), hunks: used };
}

/** Empty lines between sections belong to no hunk. */
function withoutBlankTail(hunk: Hunk): Hunk {
  const { anchor, before, after } = hunk;
  if (before.at(-1) !== '' || after.at(-1) !== '') return hunk;
  return withoutBlankTail({ anchor, before: before.slice(0, -1), after: after.slice(0, -1) });
}

/** Applies the hunks one after the other, each looked for below the last. Throws `PatchProblem` when one does not fit. */
export function applyHunks(path: string, text: string, hunks: readonly Hunk[]): string {
  let done = '';
  let rest = text;
  for (const [index, hunk] of hunks.entries()) {
    const where = `Hunk ${index + 1} of ${path}`;
    const skip = anchorEnd(rest, hunk.anchor);
    const { start, end, replacement } = placeOf(where, rest, skip, hunk);
    done += rest.slice(0, start) + replacement;
    rest = rest.slice(end);
  }
  return done + rest;
}

function placeOf(where: string, rest: string, skip: number, { anchor, before, after }: Hunk) {
  const added = after.map((line) => `${line}\n`).join('');
  if (before.length === 0) {
    // Nothing to find: after the anchor, or at the end of the file.
    const start = anchor === '' ? rest.length : skip;
    const needsLineEnd = start > 0 && rest[start - 1] !== '\n';
    return { start, end: start, replacement: needsLineEnd ? `\n${added}` : added };
  }
  const needle = before.join('\n');
  const match = findMatches(rest.slice(skip), needle) ?? findMatches(rest, needle);
  const offset = findMatches(rest.slice(skip), needle) ? skip : 0;
  const [span, second] = match?.spans ?? [];
  if (!match || !span) {
    throw new PatchProblem(`${where} was not found: its lines are not in the file. Read the file again.`);
  }
  if (second && offset === 0) {
    throw new PatchProblem(
      `${where} was found at ${match.spans.length} places. Add lines around it, or an @@ line above it.`,
    );
  }
  const [start, end] = [span.start + offset, span.end + offset];
  if (after.length === 0) return { start, end: rest[end] === '\n' ? end + 1 : end, replacement: '' };
  return { start, end, replacement: match.fit(after.join('\n'), span) };
}

/** Where the line after the anchor starts, 0 without one that is found. */
function anchorEnd(text: string, anchor: string): number {
  if (anchor === '' || /^[-+]\d+/.test(anchor)) return 0;
  const at = text.indexOf(anchor);
  if (at === -1) return 0;
  const lineEnd = text.indexOf('\n', at);
  return lineEnd === -1 ? text.length : lineEnd + 1;
}
