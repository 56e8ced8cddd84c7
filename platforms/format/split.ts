import { openStructure } from './open-structure.ts';
import { characterBoundary, utf16Units } from './units.ts';

export interface SplitOptions {
  /** The most that `measure` may say of one part. At least 100. */
  limit: number;
  /** The size of a part as the platform counts it, after rendering. UTF-16 units of the Markdown when absent. */
  measure?: (markdown: string) => number;
}

/** One part: `open + body + close` is sent; the bodies of all parts joined are the text. */
export interface Piece {
  open: string;
  body: string;
  close: string;
}

/**
 * Markdown in parts that fit: cut between paragraphs, else lines, else words, else characters, never within a
 * surrogate pair, an entity, a link or inline code of ordinary length. A code fence that a cut falls into is closed and
 * opened again with its language; a table gets its header again. Blank parts are left out.
 */
export function splitMarkdown(markdown: string, options: SplitOptions): string[] {
  return cutPieces(markdown, options)
    .map(({ open, body, close }) => open + body + close)
    .filter((part) => part.trim() !== '');
}

/** `splitMarkdown` with the seams showing. Takes time in proportion to the text. */
export function cutPieces(markdown: string, { limit, measure = utf16Units }: SplitOptions): Piece[] {
  // A part of the source that is too long is not worth rendering.
  const sizeOf = (part: string) => (part.length > limit ? part.length : measure(part));
  const pieces: Piece[] = [];
  let at = 0;
  let open = '';
  let growth = 1;
  while (at < markdown.length) {
    const rest = markdown.slice(at, at + limit + spanReach);
    const isLast = rest.length === markdown.length - at;
    if (isLast && sizeOf(open + rest) <= limit) return [...pieces, { open, body: rest, close: '' }];
    const cut = nextCut(rest, open, growth, limit, sizeOf);
    pieces.push(cut.piece);
    at += cut.piece.body.length;
    ({ reopen: open, growth } = cut);
  }
  return pieces;
}

interface Cut {
  piece: Piece;
  reopen: string;
  /** How much longer rendering made this piece; the next one is likely to be of the same kind. */
  growth: number;
}

function nextCut(
  rest: string,
  open: string,
  growth: number,
  limit: number,
  sizeOf: (part: string) => number,
): Cut {
  let room = Math.max(1, Math.floor((limit - open.length - closingRoom) / growth));
  for (;;) {
    const body = rest.slice(0, cutPoint(rest, room));
    const { close, reopen } = openStructure(open + body);
    const piece = { open, body, close: close === '' || body.endsWith('\n') ? close : `\n${close}` };
    const part = open + body + piece.close;
    const size = sizeOf(part);
    if (size <= limit || body.length <= 1 || room <= 1)
      return { piece, reopen, growth: Math.max(1, size / part.length) };
    // The rendered size tells how much too long it is, so that a few tries are enough.
    room = Math.floor(Math.min(room, body.length) / Math.max(1.1, size / limit));
  }
}

/** How far past the limit to look for the end of a link or of code that begins before it. */
const spanReach = 500;
/** Kept free for the line that closes a fence. */
const closingRoom = 16;

/** Where to cut `text` at or before `room`, best place first. */
function cutPoint(text: string, room: number): number {
  if (text.length <= room) return text.length;
  const window = text.slice(0, room);
  for (const [separator, least] of [
    ['\n\n', 0.4],
    ['\n', 0.3],
  ] as const) {
    const at = window.lastIndexOf(separator) + separator.length;
    if (at > room * least) return at;
  }
  const afterSpace = withinLine(
    text,
    window.lastIndexOf(' ') + 1,
    (at) => window.lastIndexOf(' ', at - 2) + 1,
  );
  if (afterSpace > room * 0.5) return afterSpace;
  const hard = withinLine(text, characterBoundary(text, room), (at) => characterBoundary(text, at - 1));
  return hard > 0 ? hard : Math.max(1, characterBoundary(text, room));
}

/** What begins a quote, a heading, a list or a fence where a line begins, as the next part will. */
const blockMark = />|#{1,6}(?!\S)|[-+*](?!\S)|\d{1,9}[.)](?!\S)|-{3}|\*{3}|_{3}|`{3}|~{3}/y;
const mostSteps = 32;

/** A cut within a line: out of whole spans, and not before what would turn into a block's mark and be lost. */
function withinLine(text: string, first: number, earlier: (at: number) => number): number {
  const whole = beforeSpan(text, first);
  let at = whole;
  for (let step = 0; step < mostSteps && at > 1; step++) {
    blockMark.lastIndex = at;
    if (!blockMark.test(text)) return at;
    at = beforeSpan(text, earlier(at));
  }
  return whole;
}

/** What must stay whole, when it is of ordinary length: inline code, links, bare URLs, entities. */
const wholeSpans =
  /(`{1,3})(?!`)[^\n]{0,400}?[^`]\1(?!`)|!?\[[^[\]\n]{0,300}\]\([^)\s]{0,1500}\)|https?:\/\/[^\s)>]{1,1500}|&#?\w{1,31};/g;

/** Moves a cut within a line out of a span that it would break, if that leaves something before it. */
function beforeSpan(text: string, at: number): number {
  if (at <= 0) return at;
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const lineEnd = text.indexOf('\n', at);
  const line = text.slice(lineStart, lineEnd < 0 ? undefined : lineEnd);
  for (const span of line.matchAll(wholeSpans)) {
    const start = lineStart + span.index;
    if (start < at && at < start + span[0].length) return start;
  }
  return at;
}
