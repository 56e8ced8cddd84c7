const safeSchemes: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tg:']);

/**
 * A model's link as it may be shown, or null. Absolute, of a scheme that runs nothing; `tg://user` is left out, since
 * on Telegram such a link is a mention and pings.
 */
export function safeUrl(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const parsed = new URL(url);
  if (!safeSchemes.has(parsed.protocol)) return null;
  if (parsed.protocol === 'tg:' && /^\/*user\b/i.test(parsed.href.slice('tg:'.length))) return null;
  return parsed.href;
}
