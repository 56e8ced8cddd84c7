import { isAbsolute, resolve } from 'node:path';
import type { ToolCall } from '../model/model-client.ts';
import { parseArguments } from './repair.ts';

export type Concurrency = 'parallel' | 'path' | 'sequential' | 'exclusive';

/**
 * Cuts a batch of calls into segments that run one after another; the calls of one segment run together. Read-only
 * tools share a segment, path-scoped ones too as long as no two paths touch; everything else stands alone; one
 * `exclusive` call (a question to the user) makes the whole batch sequential.
 */
export function segments(
  calls: readonly ToolCall[],
  concurrencyOf: (name: string) => Concurrency,
): ToolCall[][] {
  if (calls.some((call) => concurrencyOf(call.name) === 'exclusive')) return calls.map((call) => [call]);
  const result: ToolCall[][] = [];
  let open: { calls: ToolCall[]; paths: string[] } | null = null;
  for (const call of calls) {
    const path = pathOf(call, concurrencyOf(call.name));
    if (path === undefined) {
      open = null;
      result.push([call]);
      continue;
    }
    if (!open || (path !== null && open.paths.some((other) => touches(other, path)))) {
      open = { calls: [], paths: [] };
      result.push(open.calls);
    }
    open.calls.push(call);
    if (path !== null) open.paths.push(path);
  }
  return result;
}

/** The path that a call is scoped to; null for none needed; undefined when the call must stand alone. */
function pathOf(call: ToolCall, concurrency: Concurrency): string | null | undefined {
  const args = parseArguments(call.arguments);
  if (args === null || concurrency === 'sequential' || concurrency === 'exclusive') return undefined;
  const path = args['path'];
  if (typeof path === 'string' && path !== '')
    return isAbsolute(path) ? resolve(path) : resolve('/cwd', path);
  return concurrency === 'parallel' ? null : undefined;
}

function touches(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}
