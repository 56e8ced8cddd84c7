import { stripVTControlCharacters } from 'node:util';
import { redactSecrets } from '../../src/redact.ts';

const headShare = 0.4;
/** More than this share of characters that no text has means that the output is not text. */
const binaryShare = 0.1;
const sampleChars = 8_000;

/** Output as the model reads it: no escape sequences, no overwritten progress lines, no secrets, bounded. */
export function presentOutput(raw: string, maxChars: number): string {
  if (looksBinary(raw)) {
    return `[Binary output of about ${raw.length.toLocaleString('en')} bytes, not shown. Write it to a file, or look at it with file, xxd or base64.]`;
  }
  const plain = stripVTControlCharacters(raw).replace(/\r+\n/g, '\n').split('\n').map(lastState).join('\n');
  return bounded(redactSecrets(plain), maxChars);
}

/** A carriage return draws a line anew: only what stood there in the end is kept. */
function lastState(line: string): string {
  return line.includes('\r') ? (line.split('\r').findLast((state) => state !== '') ?? '') : line;
}

function looksBinary(text: string): boolean {
  const sample = text.slice(0, sampleChars);
  const odd = sample.match(/[\0\u0001-\u0006\u000e-\u001a\ufffd]/g)?.length ?? 0;
  return sample.includes('\0') ? odd > 1 || sample.length < 100 : odd > sample.length * binaryShare;
}

function bounded(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = Math.floor(maxChars * headShare);
  const tail = maxChars - head;
  const omitted = text.length - maxChars;
  // `toWellFormed` replaces half a character at a cut.
  const start = text.slice(0, head).toWellFormed();
  const end = text.slice(-tail).toWellFormed();
  return `${start}\n[… omitted ${omitted.toLocaleString('en')} chars …]\n${end}`;
}
