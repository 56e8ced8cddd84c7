import type { z } from 'zod';
import { GatewayError } from '../errors.ts';
import { expected, nearest, shownValue } from './problems.ts';
import { type Config, configSchema } from './schema.ts';
import { keysAt } from './shape.ts';
import { getPath, isTree, type Tree, takePath } from './tree.ts';

type Issue = z.core.$ZodIssue;

/** Tells people where a value came from: `config.yaml, line 12`, `the variable TELEGRAM_API_ROOT`. */
export type WhereOf = (path: readonly PropertyKey[]) => string;

/** Compiling the schema to code costs more than it saves: it is used once a start and once an edit. */
const slowStart = { jitless: true };

/**
 * Checks the merged data. Unknown keys become warnings; everything else that doesn't fit is one `config_invalid`
 * that lists each fault with its key, place, value and what was expected. Takes unknown keys out of `data`.
 */
export function validateConfig(data: Tree, whereOf: WhereOf): { config: Config; warnings: string[] } {
  const warnings: string[] = [];
  let result = configSchema.safeParse(data, slowStart);
  const unknown = result.success ? [] : result.error.issues.filter(isUnknownKeys);
  for (const issue of unknown) {
    for (const key of issue.keys) {
      warnings.push(unknownKey([...issue.path, key], whereOf));
      takeUnknown(data, issue.path, key);
    }
  }
  if (unknown.length > 0) result = configSchema.safeParse(data, slowStart);
  if (result.success) return { config: result.data, warnings };
  const faults = result.error.issues.map((issue) => describe(issue, data, whereOf));
  throw new GatewayError('config_invalid', faults.join('\n'), {
    mend: 'Correct it and start again; `config.example.yaml` shows every key.',
  });
}

function isUnknownKeys(issue: Issue): issue is Extract<Issue, { code: 'unrecognized_keys' }> {
  return issue.code === 'unrecognized_keys';
}

function takeUnknown(data: Tree, path: readonly PropertyKey[], key: string): void {
  let block: unknown = data;
  for (const step of path)
    block = Array.isArray(block) ? block[Number(step)] : isTree(block) ? block[String(step)] : undefined;
  if (isTree(block)) delete block[key];
}

function unknownKey(path: readonly PropertyKey[], whereOf: WhereOf): string {
  const key = String(path.at(-1));
  const guess = nearest(key, keysAt(path.slice(0, -1)) ?? []);
  const hint =
    guess === null
      ? 'It is ignored.'
      : `It is ignored. Did you mean ${[...path.slice(0, -1), guess].join('.')}?`;
  return `${whereOf(path)}: the key ${path.join('.')} is not known. ${hint}`;
}

function describe(issue: Issue, data: Tree, whereOf: WhereOf): string {
  const path = issue.path.join('.');
  const value = valueAt(data, issue.path);
  const key = path === '' ? 'the whole file' : path;
  return `${whereOf(issue.path)}: ${key} is ${shownValue(path, value)}; expected ${expected(issue)}.`;
}

function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (Array.isArray(value)) return value[Number(key)];
    return isTree(value) ? value[String(key)] : undefined;
  }, data);
}

/** Moves a value to the place where it is looked for now, unless something is there already. */
export function renameKey(data: Tree, from: string, to: string, put: (value: unknown) => void): boolean {
  if (getPath(data, from) === undefined) return false;
  const value = takePath(data, from);
  if (getPath(data, to) === undefined) put(value);
  return true;
}
