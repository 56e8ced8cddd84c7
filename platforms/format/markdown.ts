import { Lexer, lexer, type MarkedToken, type Token } from 'marked';

/**
 * The one reading of a model's Markdown that every renderer starts from: CommonMark with GitHub's tables, strike-through
 * and bare links. Text built to be slow to read is taken as plain text, so that no message can hold up the process.
 */
export function readMarkdown(markdown: string): MarkedToken[] {
  if (isCostly(markdown)) return [plainParagraph(markdown)];
  return own(lexer(markdown)).map(withoutHtmlBlocks);
}

/** The lexer runs without extensions, so every token is one of its own; the compiler needs to be shown. */
export function own(tokens: readonly Token[] | undefined): MarkedToken[] {
  return (tokens ?? []).filter((token): token is MarkedToken => !('renderer' in token));
}

/** Deeper nesting is no writing, and costs the lexer its stack. */
const deepNesting = /^(?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))){9}/m;
const delimiters = /(?<!\w)_|_(?!\w)|(?<=\S)\*|\*(?=\S)|\[|<|~~/g;
/** The lexer's time grows with the square of the delimiters of one paragraph: 400 take about 10 ms. */
const maxDelimiters = 400;

function isCostly(markdown: string): boolean {
  if (deepNesting.test(markdown)) return true;
  if (markdown.length < maxDelimiters) return false;
  return markdown
    .split(/\n\s*\n/)
    .some((paragraph) => (paragraph.match(delimiters)?.length ?? 0) > maxDelimiters);
}

/**
 * A line that begins with a tag is a block of HTML to CommonMark, its Markdown unread. No chat shows HTML: it is text
 * like any other.
 */
function withoutHtmlBlocks(token: MarkedToken): MarkedToken {
  if (token.type !== 'html' || !token.block) return token;
  const { raw } = token;
  return { type: 'paragraph', raw, text: raw.trim(), tokens: Lexer.lexInline(raw.trim()) };
}

function plainParagraph(text: string): MarkedToken {
  const token: MarkedToken = { type: 'text', raw: text, text, escaped: false };
  return { type: 'paragraph', raw: text, text, tokens: [token] };
}

/** What is left of inline tokens without their markup. */
export function plainText(tokens: readonly Token[] | undefined): string {
  return own(tokens)
    .map((token) => {
      if (token.type === 'br') return '\n';
      if ('tokens' in token && token.tokens !== undefined) return plainText(token.tokens);
      return 'text' in token ? token.text : token.raw;
    })
    .join('');
}
