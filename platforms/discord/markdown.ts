import { textUnits } from './render.ts';

export function renderText(markdown: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < markdown.length; at += textUnits) parts.push(markdown.slice(at, at + textUnits));
  return parts;
}
