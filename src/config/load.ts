import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorMessage, GatewayError } from '../errors.ts';
import { rememberSecret } from '../redact.ts';
import { type ConfigDocument, parseConfigDocument } from './document.ts';
import { type Env, envValues, readEnvFile } from './env.ts';
import { hasCode } from './files.ts';
import { type Config, isSecretKey, RENAMED_KEYS } from './schema.ts';
import { getPath, isTree, mapLeaves, setPath, type Tree, takePath } from './tree.ts';
import { renameKey, validateConfig } from './validate.ts';

export interface LoadOptions {
  /** The state directory; see `resolveHome`. */
  home: string;
  /** The process environment. `<home>/.env` fills in what it lacks. */
  env: Env;
  /** Values of command line options by dotted path; they win over everything. */
  flags?: Readonly<Record<string, unknown>>;
  /** Another file than `<home>/config.yaml`; it must exist. */
  file?: string;
}

export interface LoadedConfig {
  config: Config;
  /** Sentences for the log and for `doctor`, without secrets. */
  warnings: string[];
  /** Where each value that is not a default came from: `config.yaml`, `--port`, `TELEGRAM_BOT_TOKEN`. */
  sources: Readonly<Record<string, string>>;
  /** The process environment with `<home>/.env` underneath. */
  env: Env;
  /** The file that was read, or would have been. */
  file: string;
}

/**
 * Puts the configuration together: command line > `config.yaml` > environment > default, and for connection keys
 * the environment before the file. Rejects with `config_invalid`.
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const file = options.file ?? join(options.home, 'config.yaml');
  const [fromFile, { env: fileEnv, warnings }] = await Promise.all([
    readConfigFile(file, options.file !== undefined),
    readEnvFile(options.home),
  ]);
  return mergeConfig({ options, file, document: fromFile, env: mergeEnv(options.env, fileEnv), warnings });
}

/** Like `loadConfig`, for a content that is not on disk yet: an edit is checked before it is written. */
export async function checkConfigText(content: string, options: LoadOptions): Promise<LoadedConfig> {
  const file = options.file ?? join(options.home, 'config.yaml');
  const { env: fileEnv, warnings } = await readEnvFile(options.home);
  const document = await parseConfigDocument(content, basename(file));
  return mergeConfig({ options, file, document, env: mergeEnv(options.env, fileEnv), warnings });
}

/** An empty variable of the process doesn't hide one of the file. */
function mergeEnv(process: Env, file: Env): Env {
  return {
    ...file,
    ...Object.fromEntries(Object.entries(process).filter(([, value]) => value !== undefined && value !== '')),
  };
}

async function readConfigFile(file: string, mustExist: boolean): Promise<ConfigDocument | null> {
  try {
    return await parseConfigDocument(await readFile(file, 'utf8'), basename(file));
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    if (hasCode(error, 'ENOENT') && !mustExist) return null;
    throw new GatewayError('config_invalid', `${file} cannot be read: ${errorMessage(error)}.`, {
      mend: 'Check the path and its permissions.',
      cause: error,
    });
  }
}

interface Parts {
  options: LoadOptions;
  file: string;
  document: ConfigDocument | null;
  env: Env;
  warnings: string[];
}

function mergeConfig({ options, file, document, env, warnings }: Parts): LoadedConfig {
  const name = basename(file);
  const data = fileData(document, name, env, warnings);
  const moved = movePlatformBlocks(data);
  for (const [from, to] of RENAMED_KEYS) {
    if (renameKey(data, from, to, (value) => setPath(data, to, value))) {
      moved.set(to, from);
      warnings.push(`${name}: ${from} is now called ${to}; the old name still works.`);
    }
  }
  if (typeof data['model'] === 'string') data['model'] = { name: data['model'] };
  const sources = new Map(leafPaths(data).map((path) => [path, name]));
  const set = (path: string, value: unknown, source: string) => {
    setPath(data, path, value);
    sources.set(path, source);
  };
  for (const { binding, value } of envValues(env)) {
    if (binding.path === 'model.name' && typeof data['model'] === 'string')
      data['model'] = { name: data['model'] };
    if (binding.wins || getPath(data, binding.path) === undefined) set(binding.path, value, binding.name);
  }
  for (const [path, value] of Object.entries(options.flags ?? {})) set(path, value, 'the command line');
  const checked = validateConfig(data, (path) => whereOf(path, sources, document, moved, name));
  rememberSecrets(checked.config);
  return {
    config: checked.config,
    warnings: [...warnings, ...checked.warnings],
    sources: Object.fromEntries(sources),
    env,
    file,
  };
}

/** The file's data with `${VAR}` filled in, empty keys dropped, and big integers kept exact as text. */
function fileData(document: ConfigDocument | null, name: string, env: Env, warnings: string[]): Tree {
  const raw = document?.data ?? {};
  if (!isTree(raw)) {
    throw new GatewayError('config_invalid', `${name}, line 1: the file is not a block of keys.`, {
      mend: 'Write it as "key: value" lines; `config.example.yaml` shows every key.',
    });
  }
  const filled = mapLeaves(raw, (leaf, path) => {
    if (leaf === null) return undefined;
    if (typeof leaf === 'bigint') return Number.isSafeInteger(Number(leaf)) ? Number(leaf) : String(leaf);
    return typeof leaf === 'string' ? fillIn(leaf, path, name, env, warnings) : leaf;
  });
  return isTree(filled) ? filled : {};
}

/** Replaces `${VAR}`. One that is not set stays as it is, but a secret with a hole in it is no secret: it is dropped. */
function fillIn(text: string, path: string, name: string, env: Env, warnings: string[]): string | undefined {
  const missing: string[] = [];
  const filled = text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, variable: string) => {
    const value = env[variable];
    if (value !== undefined && value !== '') return value;
    missing.push(variable);
    return whole;
  });
  if (missing.length === 0) return filled;
  const outcome = isSecretKey(path) ? 'the key counts as not set' : 'the text is used as it is';
  warnings.push(`${name}: ${path} names the variable ${missing.join(', ')}, which is not set; ${outcome}.`);
  return isSecretKey(path) ? undefined : filled;
}

/** `platforms.<name>.{enabled,token,extra}` is another way to write the block `<name>`, which wins where both speak. */
function movePlatformBlocks(data: Tree): Map<string, string> {
  const moved = new Map<string, string>();
  const platforms = data['platforms'];
  if (!isTree(platforms)) return moved;
  for (const [platform, block] of Object.entries(platforms)) {
    if (!isTree(block)) continue;
    const extra = isTree(block['extra']) ? block['extra'] : {};
    const own = Object.fromEntries(Object.entries(block).filter(([key]) => key !== 'extra'));
    for (const [from, values] of [
      [`platforms.${platform}`, own],
      [`platforms.${platform}.extra`, extra],
    ] as const) {
      for (const [key, value] of Object.entries(values)) {
        const path = `${platform}.${key}`;
        if (getPath(data, path) === undefined) setPath(data, path, value);
        if (!moved.has(path)) moved.set(path, `${from}.${key}`);
      }
    }
    takePath(platforms, platform);
  }
  if (Object.keys(platforms).length === 0) delete data['platforms'];
  return moved;
}

function leafPaths(value: unknown, path = ''): string[] {
  if (!isTree(value)) return path === '' ? [] : [path];
  return Object.entries(value).flatMap(([key, item]) =>
    leafPaths(item, path === '' ? key : `${path}.${key}`),
  );
}

function whereOf(
  path: readonly PropertyKey[],
  sources: ReadonlyMap<string, string>,
  document: ConfigDocument | null,
  moved: ReadonlyMap<string, string>,
  name: string,
): string {
  const dotted = path.join('.');
  const prefixes = path.map((_, index) => path.slice(0, index + 1).join('.'));
  const source = prefixes.map((prefix) => sources.get(prefix)).find((found) => found !== undefined);
  if (source !== undefined && source !== name)
    return source === 'the command line' ? source : `the variable ${source}`;
  const written = moved.get(dotted)?.split('.') ?? path;
  const line = document?.lineOf(written);
  return line === undefined ? name : `${name}, line ${line}`;
}

/** Registers every secret of the configuration, so that no log line and no chat ever shows it. */
function rememberSecrets(config: Config): void {
  mapLeaves(config, (leaf, path) => {
    if (typeof leaf !== 'string' || !isSecretKey(path)) return leaf;
    if (path.endsWith('_url')) rememberSecret(passwordOf(leaf));
    else for (const part of leaf.split(',')) rememberSecret(part.trim());
    return leaf;
  });
}

/** The host of a database may be named in an error; its password may not. */
function passwordOf(url: string): string | undefined {
  const password = URL.parse(url)?.password;
  return password === undefined || password === '' ? undefined : decodeURIComponent(password);
}
