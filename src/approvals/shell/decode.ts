import { own } from './own.ts';
import { Taint } from './value.ts';

/** The outcome of a filter over a constant text, or null when it is not worked out. */
export interface Decoded {
  readonly text: string | null;
  readonly taint: number;
}

const MAX_DECODED = 65_536;

/**
 * What a filter makes of its input. `args` are the filter's arguments. Returns undefined when the program is no
 * filter known here; then nothing may be said of its output.
 */
export function decode(program: string, args: readonly string[], input: string | null): Decoded | undefined {
  const filter = own(FILTERS, program);
  if (filter === undefined) return undefined;
  const small = input !== null && input.length <= MAX_DECODED ? input : null;
  return filter(args, small);
}

type Filter = (args: readonly string[], input: string | null) => Decoded | undefined;

const flagged = (args: readonly string[], pattern: RegExp) => args.some((arg) => pattern.test(arg));

function fromBase64(input: string | null): Decoded {
  return {
    text: input === null ? null : Buffer.from(input, 'base64').toString('utf8'),
    taint: Taint.decoded,
  };
}

function fromHex(input: string | null): Decoded {
  return {
    text: input === null ? null : Buffer.from(input.replace(/[^0-9a-f]/gi, ''), 'hex').toString('utf8'),
    taint: Taint.decoded,
  };
}

function eachLine(input: string | null, change: (line: string) => string): string | null {
  return input === null ? null : input.split('\n').map(change).join('\n');
}

const base64: Filter = (args, input) =>
  flagged(args, /^(?:-\w*[dD]\w*|--decode|--d\w*)$/) ? fromBase64(input) : { text: null, taint: Taint.none };

const FILTERS: Readonly<Record<string, Filter>> = {
  base64,
  gbase64: base64,
  b64decode: (_args, input) => fromBase64(input),
  base32: (args, input) =>
    flagged(args, /^(?:-d|--decode)$/)
      ? { text: fromBase32(input), taint: Taint.decoded }
      : { text: null, taint: Taint.none },
  basenc: (args) =>
    flagged(args, /^(?:-d|--decode)$/)
      ? { text: null, taint: Taint.decoded }
      : { text: null, taint: Taint.none },
  uudecode: () => ({ text: null, taint: Taint.decoded }),
  xxd: (args, input) => (flagged(args, /^-\w*r/) ? fromHex(input) : { text: null, taint: Taint.none }),
  hex2bin: (_args, input) => fromHex(input),
  unhex: (_args, input) => fromHex(input),
  rev: (_args, input) => ({
    text: eachLine(input, (line) => [...line].reverse().join('')),
    taint: Taint.decoded,
  }),
  tac: (_args, input) => ({
    text: input === null ? null : input.split('\n').reverse().join('\n'),
    taint: Taint.none,
  }),
  tr: (args, input) => ({ text: input === null ? null : translate(args, input), taint: Taint.decoded }),
  openssl: (args, input) => {
    if (!flagged(args, /^-d$/)) return { text: null, taint: Taint.none };
    return args[0] === 'base64' || flagged(args, /^-(?:base64|a)$/)
      ? fromBase64(args.length <= 4 ? input : null)
      : { text: null, taint: Taint.decoded };
  },
  gpg: (args) =>
    flagged(args, /^(?:-d|--decrypt)$/)
      ? { text: null, taint: Taint.decoded }
      : { text: null, taint: Taint.none },
  gunzip: () => ({ text: null, taint: Taint.decoded }),
  zcat: () => ({ text: null, taint: Taint.decoded }),
  gzip: (args) =>
    flagged(args, /^-\w*d/) ? { text: null, taint: Taint.decoded } : { text: null, taint: Taint.none },
  bunzip2: () => ({ text: null, taint: Taint.decoded }),
  xz: (args) =>
    flagged(args, /^-\w*d/) ? { text: null, taint: Taint.decoded } : { text: null, taint: Taint.none },
  iconv: (_args, input) => ({ text: input, taint: Taint.none }),
  cat: (args, input) =>
    args.every((arg) => arg.startsWith('-')) ? { text: input, taint: Taint.none } : undefined,
  tee: (_args, input) => ({ text: input, taint: Taint.none }),
  sponge: (_args, input) => ({ text: input, taint: Taint.none }),
  pv: (_args, input) => ({ text: input, taint: Taint.none }),
  buffer: (_args, input) => ({ text: input, taint: Taint.none }),
  head: (_args, input) => ({ text: input, taint: Taint.none }),
  tail: (_args, input) => ({ text: input, taint: Taint.none }),
  sort: (_args, input) => ({ text: input, taint: Taint.none }),
  uniq: (_args, input) => ({ text: input, taint: Taint.none }),
  sed: (args, input) => ({ text: input === null ? null : substitute(args, input), taint: Taint.none }),
  fold: (_args, input) => ({ text: input, taint: Taint.none }),
  dos2unix: (_args, input) => ({ text: input, taint: Taint.none }),
};

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648, section 6. */
function fromBase32(input: string | null): string | null {
  if (input === null) return null;
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const char of input.toUpperCase()) {
    const index = BASE32.indexOf(char);
    if (index < 0) continue;
    value = ((value << 5) | index) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 0xff);
    }
  }
  return Buffer.from(bytes).toString('utf8');
}

/** `tr SET1 SET2` and `tr -d SET1` with ranges (POSIX tr); classes are not worked out. */
function translate(args: readonly string[], input: string): string | null {
  const sets = args.filter((arg) => !/^-[a-zA-Z]+$/.test(arg)).map(expandSet);
  const [from, to] = sets;
  if (from === undefined || from === null || to === null) return null;
  if (flagged(args, /^-\w*d/)) return [...input].filter((char) => !from.includes(char)).join('');
  if (to === undefined || to.length === 0) return null;
  const map = new Map(from.map((char, index) => [char, to[Math.min(index, to.length - 1)] ?? char]));
  return [...input].map((char) => map.get(char) ?? char).join('');
}

function expandSet(set: string): string[] | null {
  if (set === '[:upper:]') return [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  if (set === '[:lower:]') return [...'abcdefghijklmnopqrstuvwxyz'];
  if (set.includes('[:')) return null;
  const plain = set.replace(/\\n/g, '\n').replace(/\\t/g, '\t').replace(/\\(.)/g, '$1');
  const found: string[] = [];
  for (let at = 0; at < plain.length; at += 1) {
    const first = plain.charCodeAt(at);
    const last = plain[at + 1] === '-' && at + 2 < plain.length ? plain.charCodeAt(at + 2) : first;
    if (last > first + 1024) return null;
    for (let code = first; code <= last; code += 1) found.push(String.fromCharCode(code));
    if (last !== first) at += 2;
  }
  return found;
}

/** A single `s/literal/literal/g` over the text; anything richer is not worked out. */
function substitute(args: readonly string[], input: string): string | null {
  const scripts = args.filter((arg) => !/^-(?:e|E|r|u)$/.test(arg));
  const [script] = scripts;
  if (scripts.length !== 1 || script === undefined) return null;
  const match = /^s(.)((?:[^\\[\]*.^$+?(){}|]|\\\1)*?)\1((?:[^\\&]|\\\1)*?)\1(g?)$/s.exec(script);
  if (match === null || match[2] === undefined || match[2] === '') return null;
  const [, mark = '', rawFrom, rawTo = '', every] = match;
  const from = rawFrom.replaceAll(`\\${mark}`, mark);
  const to = rawTo.replaceAll(`\\${mark}`, mark);
  return eachLine(input, (line) =>
    every === 'g' ? line.replaceAll(from, () => to) : line.replace(from, () => to),
  );
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  e: '\x1b',
  '\\': '\\',
};

/** Backslash escapes of `echo -e` and `printf`: letters, `\xHH`, `\NNN`, `\0NNN`, `\uHHHH`. */
export function unescapeText(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3})|([ntrabfve\\]))/g,
    (all, hex, unicode, octal, letter) => {
      if (typeof letter === 'string') return ESCAPES[letter] ?? all;
      if (typeof octal === 'string') return String.fromCharCode(Number.parseInt(octal, 8));
      return String.fromCharCode(Number.parseInt(String(hex ?? unicode), 16));
    },
  );
}

/** `printf FORMAT ARG…` (POSIX printf), the format used again while arguments are left. */
export function formatted(format: string, args: readonly string[]): string {
  const template = unescapeText(format);
  let used = 0;
  let out = '';
  do {
    const before = used;
    out += template.replace(/%%|%[-+ #0]*\d*(?:\.\d+)?([sdiuxXocbqeEfgG])/g, (all, kind) => {
      if (all === '%%') return '%';
      const next = args[used] ?? '';
      used += 1;
      if (kind === 'b') return unescapeText(next);
      return kind === 'c' ? next.slice(0, 1) : next;
    });
    if (used === before) break;
  } while (used < args.length && out.length < MAX_DECODED);
  return out;
}
