/**
 * What a button's `custom_id` holds: whether the press opens a form first, the card's opaque button id, and the
 * label of the form's field. Discord allows 100 characters; the port allows 64 for the id.
 */
export type PressTarget = { kind: 'press'; id: string } | { kind: 'form'; id: string; label: string };

const idLimit = 100;
/** discord.com/developers/docs/components/reference#label: 45 characters. */
export const formLabelLimit = 45;

export function writeCustomId(target: PressTarget): string {
  if (target.kind === 'press') return `p|${target.id}`;
  const head = `f|${target.id}|`;
  return head + target.label.slice(0, Math.min(formLabelLimit, idLimit - head.length)).toWellFormed();
}

/** Null for a component that is none of ours. */
export function readCustomId(text: string): PressTarget | null {
  const [kind, id, ...label] = text.split('|');
  if (id === undefined || id === '') return null;
  if (kind === 'p') return { kind: 'press', id: text.slice(2) };
  if (kind === 'f') return { kind: 'form', id, label: label.join('|') };
  return null;
}
