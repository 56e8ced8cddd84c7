import { UNKNOWN } from './value.ts';
import type { Language } from './wrappers.ts';

/** Code with every string literal replaced by `\uE010N\uE011`, N its index in `literals`, and comments taken out. */
export interface LexedCode {
  readonly source: string;
  readonly masked: string;
  readonly literals: readonly string[];
  /** The contents of backtick literals of languages where these run a shell. */
  readonly backticks: readonly string[];
}

const HASH_COMMENT: readonly Language[] = ['python', 'perl', 'ruby', 'php', 'awk', 'r', 'tcl', 'powershell'];
const SLASH_COMMENT: readonly Language[] = ['javascript', 'php'];

/** One pass, linear. Interpolated pieces of a literal become UNKNOWN. Regular expression literals are not known. */
export function lexCode(language: Language, source: string): LexedCode {
  const literals: string[] = [];
  const backticks: string[] = [];
  const out: string[] = [];
  let at = 0;
  const take = (text: string) => {
    out.push(`\uE010${literals.length}\uE011`);
    literals.push(text);
  };
  while (at < source.length) {
    const char = source[at] ?? '';
    const next = source[at + 1];
    if (char === '#' && HASH_COMMENT.includes(language) && !(language === 'perl' && source[at - 1] === '$')) {
      at = lineEnd(source, at);
    } else if (char === '/' && next === '/' && SLASH_COMMENT.includes(language) && source[at - 1] !== ':') {
      at = lineEnd(source, at);
    } else if (char === '/' && next === '*' && SLASH_COMMENT.includes(language)) {
      const close = source.indexOf('*/', at + 2);
      at = close < 0 ? source.length : close + 2;
    } else if (char === '-' && next === '-' && language === 'lua') {
      at = lineEnd(source, at);
    } else if (char === '"' || char === "'" || char === '`') {
      const quote = language === 'python' && source.startsWith(char.repeat(3), at) ? char.repeat(3) : char;
      const end = literalEnd(source, at + quote.length, quote);
      const raw = source.slice(at + quote.length, end);
      const text = interpolate(language, quote, source[at - 1] ?? '', unescapeLiteral(raw));
      if (char === '`') backticks.push(text);
      take(text);
      at = Math.min(source.length, end + quote.length);
    } else if ((language === 'perl' || language === 'ruby') && /[q%]/.test(char)) {
      const quoted = /(?:(?<![\w$@%])q([qxw]?)|%([qQxwW]?))([{([<|/!])/y;
      quoted.lastIndex = at;
      const match = quoted.exec(source);
      if (match === null || (char === '%' && language === 'perl')) {
        out.push(char);
        at += 1;
      } else {
        const close = { '{': '}', '(': ')', '[': ']', '<': '>' }[match[3] ?? ''] ?? match[3] ?? '';
        const end = literalEnd(source, at + match[0].length, close);
        const text = interpolate(language, '"', '', source.slice(at + match[0].length, end));
        if (match[1] === 'x' || match[2] === 'x') backticks.push(text);
        take(text);
        at = Math.min(source.length, end + 1);
      }
    } else {
      out.push(char === '\uE010' || char === '\uE011' ? ' ' : char);
      at += 1;
    }
  }
  return { source, masked: out.join(''), literals, backticks };
}

function lineEnd(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end < 0 ? source.length : end;
}

function literalEnd(source: string, from: number, quote: string): number {
  for (let at = from; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source.startsWith(quote, at)) return at;
  }
  return source.length;
}

function unescapeLiteral(raw: string): string {
  if (!raw.includes('\\')) return raw;
  return raw.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([0-7]{2,3})|([\s\S]))/g,
    (_all, hex, unicode, octal, char) => {
      if (typeof hex === 'string' || typeof unicode === 'string')
        return String.fromCharCode(Number.parseInt(String(hex ?? unicode), 16));
      if (typeof octal === 'string') return String.fromCharCode(Number.parseInt(octal, 8));
      return { n: '\n', t: '\t', r: '\r' }[String(char)] ?? String(char);
    },
  );
}

/** What the language fills in when it runs: `{x}` of an f-string, `${x}`, `#{x}`, `$x`. */
function interpolate(language: Language, quote: string, prefix: string, text: string): string {
  if (language === 'python')
    return /[fF]/.test(prefix) ? text.replace(/\{[^{}]*\}/g, UNKNOWN) : text.replace(/%[sdr]\b/g, UNKNOWN);
  if (language === 'javascript') return quote === '`' ? text.replace(/\$\{[^}]*\}/g, UNKNOWN) : text;
  if (quote === "'" || language === 'awk' || language === 'lua') return text;
  if (language === 'ruby') return text.replace(/#\{[^}]*\}/g, UNKNOWN);
  return text.replace(/\{?\$\w+(?:\[[^\]]*\]|\{[^}]*\})?\}?/g, UNKNOWN);
}
