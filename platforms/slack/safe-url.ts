const safeSchemes: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

/** Whether a link from a model may be one: absolute, and of a scheme that runs nothing. */
export function isSafeUrl(url: string): boolean {
  return URL.canParse(url) && safeSchemes.has(new URL(url).protocol);
}
