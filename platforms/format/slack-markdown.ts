import { safeUrl } from './safe-url.ts';

/**
 * A model's Markdown made safe for Slack's Markdown block, which still reads Slack's own `<…>` forms: nothing in it
 * pings anyone, and links lead to http, https and mailto only.
 */
export function toSlackMarkdown(markdown: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const code of markdown.matchAll(codeParts)) {
    parts.push(escapeProse(markdown.slice(at, code.index)), disarm(code[0]));
    at = code.index + code[0].length;
  }
  parts.push(escapeProse(markdown.slice(at)));
  return parts.join('');
}

/** Fenced and inline code. A part taken for code by mistake is disarmed all the same. */
const codeParts =
  /^ {0,3}(?:```|~~~)[\s\S]*?(?:^ {0,3}(?:```|~~~)[ \t]*$|$(?![\s\S]))|(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/gm;

const pingForm = /<(?=!(?:channel|here|everyone|subteam|date)|@[UWB]|#[CGD])/g;
const wordJoiner = '\u2060';

/** Entities may stay undecoded in code, so there an invisible character breaks the form instead. */
function disarm(code: string): string {
  return code.replace(pingForm, `<${wordJoiner}`);
}

function escapeProse(prose: string): string {
  return prose
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/\]\(\s*([^\s)]*)/g, (whole, url: string) => (safeUrl(url) !== null ? whole : `] (${url}`))
    .replace(/^( {0,3}\[[^\]\n]+\]):[ \t]*(\S+)/gm, (whole, label: string, url: string) =>
      safeUrl(url) !== null ? whole : `${label} ${url}`,
    );
}
