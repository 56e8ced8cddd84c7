import { lexer, walkTokens } from 'marked';

/** Where the links and images of a Markdown text lead. */
export function markdownLinks(markdown: string): string[] {
  const targets: string[] = [];
  walkTokens(lexer(markdown), (token) => {
    if ((token.type === 'link' || token.type === 'image') && typeof token['href'] === 'string')
      targets.push(token['href']);
  });
  return targets;
}
