/** Length as Telegram and JavaScript count it. */
export function utf16Units(text: string): number {
  return text.length;
}

/** Length as limits on button ids and file names count it. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** Control, combining and joining characters, which take no column of their own. */
const noColumn = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]$/u;
const twoColumns =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]$|^\p{Emoji_Presentation}$/u;

/** Columns that a line takes in a monospaced font. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (character < '\u0300') width += 1;
    else if (!noColumn.test(character)) width += twoColumns.test(character) ? 2 : 1;
  }
  return width;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** No visible character of real text is longer; bounds the work at one cut. */
const graphemeReach = 64;

/** The last place at or before `at` that lies between two visible characters: never within a pair or a joined emoji. */
export function characterBoundary(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return at;
  const from = afterSurrogate(text, Math.max(0, at - graphemeReach));
  const around = text.slice(from, at + graphemeReach);
  const start = graphemes.segment(around).containing(at - from)?.index ?? 0;
  return start > 0 ? from + start : afterSurrogate(text, at);
}

/** Steps back over half a surrogate pair. */
function afterSurrogate(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const before = text.charCodeAt(at - 1);
  return code >= 0xdc00 && code <= 0xdfff && before >= 0xd800 && before <= 0xdbff ? at - 1 : at;
}
