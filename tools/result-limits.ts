import { errorMessage } from '../src/errors.ts';
import { type Registry, registry as sharedRegistry } from './registry.ts';
import { cutText } from './results.ts';
import { type SpillPlace, saveSpill } from './spillover.ts';

/** All in UTF-16 units of the result's text. */
export interface ResultLimits {
  result: number;
  mcpResult: number;
  /** Over all results of one assistant message. */
  turn: number;
  /** By tool name, from the config. */
  perTool: Readonly<Record<string, number>>;
}

export const defaultResultLimits: ResultLimits = {
  result: 100_000,
  mcpResult: 50_000,
  turn: 200_000,
  perTool: {},
};

const charsPerToken = 4;
const previewChars = 1_500;
/** A spilled result is read back with read_file, so its results stay as they are: it bounds itself. */
const neverSpilled: ReadonlySet<string> = new Set(['read_file']);

/** Budgets for a model with a small window: a result takes at most 15 % of it, a turn 30 %. */
export function limitsForWindow(
  windowTokens: number,
  limits: ResultLimits = defaultResultLimits,
): ResultLimits {
  const share = (part: number, least: number) =>
    Math.max(least, Math.floor(windowTokens * charsPerToken * part));
  const result = Math.min(limits.result, share(0.15, 8_000));
  return {
    ...limits,
    result,
    mcpResult: Math.min(limits.mcpResult, result),
    turn: Math.min(limits.turn, share(0.3, 16_000)),
  };
}

export interface NamedResult {
  name: string;
  toolCallId: string;
  result: string;
}

export interface LimitOptions extends SpillPlace {
  limits?: ResultLimits;
  registry?: Registry;
}

/** A result above its budget is saved as a file and replaced by a preview that says where; others come back as they are. */
export async function spillResult(call: NamedResult, options: LimitOptions): Promise<string> {
  return call.result.length > budgetOf(call.name, options) ? spill(call, options) : call.result;
}

/** Keeps the results of one assistant message within the turn's budget: the largest are spilled first. Order is kept. */
export async function limitTurnResults(
  calls: readonly NamedResult[],
  options: LimitOptions,
): Promise<string[]> {
  const { turn } = options.limits ?? defaultResultLimits;
  const results = await Promise.all(calls.map((call) => spillResult(call, options)));
  let total = results.reduce((sum, result) => sum + result.length, 0);
  const largestFirst = calls
    .map((call, index) => ({ call, index, chars: results[index]?.length ?? 0 }))
    .filter(({ call, chars }) => !neverSpilled.has(call.name) && chars > previewChars * 2)
    .sort((a, b) => b.chars - a.chars);
  for (const { call, index, chars } of largestFirst) {
    if (total <= turn) break;
    if (results[index] !== call.result) continue; // Spilled already.
    const block = await spill(call, options);
    results[index] = block;
    total += block.length - chars;
  }
  return results;
}

/** The order of lookup: pinned, config, MCP, the tool's own (capped by a small window), default. */
function budgetOf(name: string, options: LimitOptions): number {
  const limits = options.limits ?? defaultResultLimits;
  if (neverSpilled.has(name)) return Number.POSITIVE_INFINITY;
  const configured = limits.perTool[name];
  if (configured !== undefined) return configured;
  if (name.startsWith('mcp_')) return limits.mcpResult;
  const own = (options.registry ?? sharedRegistry).get(name)?.maxResultSizeChars;
  if (own === undefined) return limits.result;
  const smallWindow = limits.result < defaultResultLimits.result;
  return smallWindow ? Math.min(own, limits.result) : own;
}

async function spill({ name, toolCallId, result }: NamedResult, options: LimitOptions): Promise<string> {
  const preview = previewOf(result);
  try {
    const path = await saveSpill(toolCallId, result, options);
    return block([
      `The result of ${name} has ${result.length} characters: too long to show here.`,
      `It is saved in full at: ${path}`,
      'Read it in parts with read_file (offset and limit), or look for something in it with search_files.',
      '',
      `Its first ${preview.length} characters:`,
      preview,
    ]);
  } catch (error) {
    options.log.warn({ tool: name, error: errorMessage(error) }, 'A long tool result could not be saved.');
    const kept = cutText(result, Math.min(8_000, result.length));
    return block([
      `The result of ${name} has ${result.length} characters. The rest after the first ${kept.length} could not be saved and is lost.`,
      'Ask for less at a time if you need it.',
      '',
      kept,
    ]);
  }
}

const block = (lines: readonly string[]): string =>
  ['<persisted-output>', ...lines, '</persisted-output>'].join('\n');

function previewOf(text: string): string {
  const head = cutText(text, previewChars);
  const lastLine = head.lastIndexOf('\n');
  return lastLine > 0 ? head.slice(0, lastLine) : head;
}
