import type { Choice } from './payload.ts';

/** The line that asks for a decision, such as `[1] Once  [2] Session  [3] Deny  (Enter: Deny) `. */
export function choiceLine(choices: readonly Choice[]): string {
  const options = choices.map(({ label }, index) => `[${index + 1}] ${label}`).join('  ');
  const denial = choices.find(({ isDenial }) => isDenial);
  return denial === undefined ? `${options}\n` : `${options}  (Enter: ${denial.label})\n`;
}

/**
 * The choice that a typed line means: a number, or the label or its beginning. A bare Enter denies; it never
 * approves. Null when the line is no choice at all, but words for the agent.
 */
export function choose(choices: readonly Choice[], typed: string): Choice | null {
  const words = plain(typed);
  if (words === '') return choices.find(({ isDenial }) => isDenial) ?? null;
  const byNumber = /^\d+$/.test(words) ? choices[Number(words) - 1] : undefined;
  const fitting = choices.filter(({ label }) => plain(label).startsWith(words));
  return byNumber ?? (fitting.length === 1 ? (fitting[0] ?? null) : null);
}

/** A label without its emoji, in lower case. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/^[^\p{L}\p{N}/]+/u, '')
    .trim();
}
