import { redactWords } from '../redact.ts';

/** Signs that take no place or turn the reading direction: with them a text is not what it looks like. */
const unseen =
  /(?!\t|\n|\u200d|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?<!\p{Extended_Pictographic}\ufe0f?)\u200d|(?<!\p{Extended_Pictographic})\ufe0f/gu;

const named = (sign: string) =>
  `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** An action as the person who decides sees it: nothing in it unseen but secrets. */
export function shownAction(action: string): string {
  return redactWords(action).replace(unseen, named);
}

/** A fact about it, in one line, so that no name of a folder can pose as the next fact. */
export function shownFact(fact: string): string {
  return shownAction(fact).replace(/\s*\n\s*/g, ' ↵ ');
}
