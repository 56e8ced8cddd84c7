import { existsSync } from 'node:fs';
import { readTypedValue, setConfigValue } from '../config/edit.ts';
import { configJsonSchema } from '../config/json-schema.ts';
import { isSecretKey } from '../config/schema.ts';
import { getPath } from '../config/tree.ts';
import { GatewayError } from '../errors.ts';
import { loadHome } from './load.ts';
import { print, printJson } from './print.ts';

/** Reads the configuration as `start` would; a fault ends with exit code 78 and names its line. */
export async function check(): Promise<void> {
  const { file, warnings } = await loadHome();
  for (const warning of warnings) print(`warning: ${warning}`);
  print(existsSync(file) ? `${file}: fine` : `${file} does not exist: every key has its default. Fine.`);
}

export async function schema(): Promise<void> {
  printJson(await configJsonSchema());
}

export async function get(key: string | undefined): Promise<void> {
  const { config, sources } = await loadHome();
  if (key === undefined)
    return printJson(
      Object.fromEntries(Object.keys(config).map((name) => [name, hide(name, getPath(config, name))])),
    );
  const value = getPath(config, key);
  if (value === undefined)
    throw new GatewayError('usage', `There is no key "${key}".`, {
      mend: '`config.example.yaml` shows every key.',
    });
  printJson({ value: hide(key, value), source: sources[key] ?? 'default' });
}

export async function set(key: string, value: string): Promise<void> {
  const { home } = await loadHome();
  await setConfigValue({ home, env: process.env }, key, await readTypedValue(value));
  print(`${key} is set.`);
}

/** Secrets are never printed, however deep they lie. */
function hide(path: string, value: unknown): unknown {
  if (isSecretKey(path)) return value === '' ? '' : '[set]';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, hide(`${path}.${name}`, inner)]),
  );
}
