/** A text file's content and what must survive an edit: its line ends and its byte order mark. */
export interface TextFile {
  /** With `\n` line ends and without a byte order mark. */
  text: string;
  lineEnd: '\n' | '\r\n';
  byteOrderMark: boolean;
}

const sniffedBytes = 8_192;

/** A NUL byte or broken UTF-8 in its head makes a file binary. */
export function isBinary(data: Uint8Array): boolean {
  const head = data.subarray(0, sniffedBytes);
  if (head.includes(0)) return true;
  try {
    // `stream`: the cut may run through the middle of a character.
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return false;
  } catch {
    return true;
  }
}

/** Null when the content is no UTF-8 text, which an edit would damage. */
export function decodeText(data: Uint8Array): TextFile | null {
  if (data.includes(0)) return null;
  try {
    const raw = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
    const byteOrderMark = raw.startsWith('\uFEFF');
    const text = byteOrderMark ? raw.slice(1) : raw;
    const crlf = text.includes('\r\n') && !/(?<!\r)\n/.test(text);
    return {
      text: crlf ? text.replaceAll('\r\n', '\n') : text,
      lineEnd: crlf ? '\r\n' : '\n',
      byteOrderMark,
    };
  } catch {
    return null;
  }
}

export function encodeText({ text, lineEnd, byteOrderMark }: TextFile): Uint8Array {
  const lines = lineEnd === '\r\n' ? text.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n') : text;
  return Buffer.from(byteOrderMark ? `\uFEFF${lines}` : lines, 'utf8');
}

export interface LineSlice {
  lines: string[];
  totalLines: number;
}

/** `limit` lines from the one-based `offset`. Only they are decoded, so that a long file costs little. */
export function sliceLines(data: Uint8Array, offset: number, limit: number): LineSlice {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  let line = 1;
  let start = offset === 1 ? 0 : -1;
  let end = bytes.length;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) {
    if (at + 1 === bytes.length) break; // The file's last line end starts no new line.
    line += 1;
    if (line === offset) start = at + 1;
    if (line === offset + limit) end = at;
  }
  const totalLines = bytes.length === 0 ? 0 : line;
  if (start === -1 || totalLines === 0) return { lines: [], totalLines };
  // Only the file's own last line end is dropped: a slice that ends in an empty line keeps it.
  if (end === bytes.length && bytes[end - 1] === 10) end -= 1;
  const text = bytes.toString('utf8', start, Math.max(start, end)).replace(/^\uFEFF/, '');
  return { lines: text.split('\n').map((each) => each.replace(/\r$/, '')), totalLines };
}

/** `N|text`, as read_file shows lines. */
export function numberLines(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${first + index}|${line}`).join('\n');
}

/** Whether a text still bears read_file's line numbers: most of its lines do, and they count up. */
export function hasLineNumbers(text: string): boolean {
  const lines = text.split('\n').filter((line) => line !== '');
  const numbers = lines.flatMap((line) => {
    const found = /^\s*(\d+)\|/.exec(line)?.[1];
    return found === undefined ? [] : [Number(found)];
  });
  if (numbers.length < 2 || numbers.length < lines.length * 0.8) return false;
  return numbers.every((number, index) => index === 0 || number === (numbers[index - 1] ?? 0) + 1);
}
