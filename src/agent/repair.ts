import { randomBytes } from 'node:crypto';
import type { ModelReply, ToolCall } from '../model/model-client.ts';

/** Arguments as an object, or null when the model's text is not a JSON object. Empty text means no arguments. */
export function parseArguments(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    // Not JSON: the caller asks the model again.
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The offered tool that a misspelt name plainly means (other case, hyphens, a prefix such as `functions.`, one or
 * two wrong letters), or null.
 */
export function repairName(name: string, offered: readonly string[]): string | null {
  if (offered.includes(name)) return name;
  const plain = simplify(name);
  const same = offered.filter((candidate) => simplify(candidate) === plain);
  if (same.length === 1) return same[0] ?? null;
  const near = offered.filter(
    (candidate) => editDistance(simplify(candidate), plain) <= Math.min(2, plain.length >> 2),
  );
  return near.length === 1 ? (near[0] ?? null) : null;
}

function simplify(name: string): string {
  return (name.split(/[./:]/).at(-1) ?? name).toLowerCase().replace(/[^a-z0-9]/g, '');
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitute = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitute));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/**
 * Makes a reply safe to store: names repaired, identical calls of one batch collapsed, every call id present and
 * new to the session (some providers number their calls anew in each reply; the journal needs them unique).
 */
export function repairReply(
  reply: ModelReply,
  offered: readonly string[],
  usedIds: ReadonlySet<string>,
): ModelReply {
  const seen = new Set<string>();
  const ids = new Set(usedIds);
  const toolCalls: ToolCall[] = [];
  for (const call of reply.toolCalls) {
    const name = repairName(call.name, offered) ?? call.name;
    const identity = JSON.stringify([name, call.arguments]);
    if (seen.has(identity)) continue;
    seen.add(identity);
    const id = call.id === '' || ids.has(call.id) ? `call_${randomBytes(6).toString('hex')}` : call.id;
    ids.add(id);
    toolCalls.push({ id, name, arguments: call.arguments });
  }
  return { ...reply, toolCalls };
}
