import { UNKNOWN } from './value.ts';

/** A command text without what only hides it from a reader, and the way back to the offsets of the original. */
export interface NormalisedText {
  readonly text: string;
  /** The offset in the original text of an offset in `text`. */
  original(offset: number): number;
  /** Offsets in `text` at which something invisible (NUL, zero-width, bidirectional mark) was taken out. */
  readonly hiddenAt: readonly number[];
}

const PLAIN = /^[\t\n\x20-\x7e]*$/;
/** ANSI control sequences and operating-system commands (ECMA-48, 5.4 and 8.3.89). */
const ESCAPE_SEQUENCE =
  /\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\)|[@-Z\\-_])/y;
/** What Unicode says is not to be seen: zero-width, soft hyphen, variation selectors, tags; and bidirectional marks. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u;

/**
 * Strips escape sequences, control and invisible characters, folds compatible letters (full-width, mathematical)
 * to plain ones and CRLF to LF. Linear; text of printable ASCII is returned as it is.
 */
export function normalise(text: string): NormalisedText {
  if (PLAIN.test(text)) return { text, original: (offset) => offset, hiddenAt: [] };
  const pieces: string[] = [];
  const offsets: number[] = [];
  const hiddenAt: number[] = [];
  let at = 0;
  while (at < text.length) {
    const code = text.codePointAt(at) ?? 0;
    const char = String.fromCodePoint(code);
    let width = char.length;
    let replacement = char;
    if (code === 0x1b) {
      ESCAPE_SEQUENCE.lastIndex = at;
      width = ESCAPE_SEQUENCE.exec(text)?.[0].length ?? 1;
      replacement = '';
    } else if (code === 0 || (code > 0x7e && INVISIBLE.test(char))) {
      hiddenAt.push(offsets.length);
      replacement = '';
    } else if (code === 0x0d) {
      replacement = text[at + 1] === '\n' ? '' : ' ';
    } else if (code < 0x20 && code !== 0x09 && code !== 0x0a) {
      replacement = '';
    } else if (code === 0x7f || char === UNKNOWN) {
      replacement = code === 0x7f ? '' : '?';
    } else if (code > 0x7e) {
      replacement = char.normalize('NFKC');
    }
    for (let unit = 0; unit < replacement.length; unit += 1) offsets.push(at);
    pieces.push(replacement);
    at += width;
  }
  offsets.push(text.length);
  return {
    text: pieces.join(''),
    original: (offset) => offsets[Math.min(offset, offsets.length - 1)] ?? text.length,
    hiddenAt,
  };
}
