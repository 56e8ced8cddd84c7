import type { Choice } from '../store/approvals.ts';

const yes = new Set(['yes', 'y', 'ok', 'okay', 'approve', 'confirm', '👍', 'да', 'ок', 'разрешаю']);
const no = new Set(['no', 'n', 'deny', 'reject', 'cancel', '👎', 'нет', 'отказать', 'отмена']);
const scopes: { readonly [word: string]: Choice } = {
  session: 'session',
  always: 'always',
  сессия: 'session',
  всегда: 'always',
};

/** A decision said in plain words while a request waits, or null: anything else is no consent. */
export function plainDecision(text: string): Choice | null {
  const words = text
    .trim()
    .toLowerCase()
    .replace(/[.!]+$/, '')
    .split(/\s+/);
  const [first = '', second, ...rest] = words;
  if (rest.length > 0) return null;
  if (second === undefined) return yes.has(first) ? 'once' : no.has(first) ? 'deny' : (scopes[first] ?? null);
  return yes.has(first) ? (scopes[second] ?? null) : null;
}
