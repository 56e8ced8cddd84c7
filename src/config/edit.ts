import { readFile, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Document } from 'yaml';
import { errorMessage, GatewayError } from '../errors.ts';
import { parseConfigDocument } from './document.ts';
import { hasCode, writeAtomically } from './files.ts';
import { checkConfigText, type LoadedConfig, type LoadOptions } from './load.ts';
import { nearest } from './problems.ts';
import { keysAt } from './shape.ts';

/** Edits of one file wait for each other, so that none is lost. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Sets one key and keeps the rest of the file, comments included. Resolves with the configuration as it is now.
 * Rejects with `usage` for an unknown key and `config_invalid` for a value that doesn't fit; nothing is written then.
 */
export async function setConfigValue(
  options: LoadOptions,
  path: string,
  value: unknown,
): Promise<LoadedConfig> {
  const keys = path.split('.');
  checkPath(keys);
  return edit(options, (document) => {
    for (let depth = 1; depth < keys.length; depth += 1) {
      const at = keys.slice(0, depth);
      // An empty block (`telegram:`) holds null, in which no key can be set.
      if (document.getIn(at) === null) document.setIn(at, document.createNode({}));
    }
    document.setIn(keys, isPlain(value) ? value : document.createNode(value));
  });
}

/** A value as typed on a command line: `true`, `5`, `[a, b]`, or a text. */
export async function readTypedValue(text: string): Promise<unknown> {
  const { parse } = await import('yaml');
  return parse(text);
}

/** Adds entries to a list of texts: what is on disk, and the new ones, sorted. A single text becomes a list. */
export function addToList(
  options: LoadOptions,
  path: string,
  entries: readonly string[],
): Promise<LoadedConfig> {
  return editList(options, path, (present) => [...present, ...entries]);
}

/** Takes an entry out of a list. Resolves with whether it was there. */
export async function removeFromList(options: LoadOptions, path: string, entry: string): Promise<boolean> {
  let found = false;
  await editList(options, path, (present) => {
    found = present.includes(entry);
    return present.filter((text) => text !== entry);
  });
  return found;
}

function editList(
  options: LoadOptions,
  path: string,
  change: (present: readonly string[]) => string[],
): Promise<LoadedConfig> {
  const keys = path.split('.');
  checkPath(keys);
  return edit(options, (document, yaml) => {
    const node = document.getIn(keys, true);
    const items = yaml.isSeq(node) ? node.items : [];
    const single = yaml.isScalar(node) && node.value !== null ? [String(node.value)] : [];
    const textOf = (item: unknown) => String(yaml.isScalar(item) ? item.value : item);
    const wanted = [...new Set(change([...items.map(textOf), ...single]))].sort();
    // Entries that stay keep their node, and with it the comment that says why they are there.
    const kept = new Map(items.map((item) => [textOf(item), item]));
    const nodes = wanted.map((text) => kept.get(text) ?? document.createNode(text));
    if (yaml.isSeq(node)) {
      node.items = nodes;
      if (nodes.length > 0) node.flow = false;
    } else {
      document.setIn(keys, document.createNode(nodes));
    }
  });
}

async function edit(
  options: LoadOptions,
  change: (document: Document, yaml: typeof import('yaml')) => void,
): Promise<LoadedConfig> {
  const file = options.file ?? join(options.home, 'config.yaml');
  const before = turns.get(file) ?? Promise.resolve();
  const mine = before.catch(() => undefined).then(() => editNow(options, file, change));
  turns.set(file, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(file) === mine) turns.delete(file);
  }
}

async function editNow(
  options: LoadOptions,
  file: string,
  change: (document: Document, yaml: typeof import('yaml')) => void,
): Promise<LoadedConfig> {
  const yaml = await import('yaml');
  const old = await readFile(file, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return '';
    throw notWritten(file, error);
  });
  const { document } = await parseConfigDocument(old, basename(file));
  if (document.contents === null) document.contents = document.createNode({});
  change(document, yaml);
  const text = document.toString({ lineWidth: 0 });
  const checked = await checkConfigText(text, options);
  if (text !== old) await write(file, text);
  return checked;
}

/** Through a symbolic link into the file that it names, as dotfile managers have it. */
async function write(file: string, text: string): Promise<void> {
  try {
    const target = await realpath(file).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return file;
      throw error;
    });
    await writeAtomically(target, text);
  } catch (error) {
    throw notWritten(file, error);
  }
}

function notWritten(file: string, error: unknown): GatewayError {
  const full = hasCode(error, 'ENOSPC');
  return new GatewayError(
    full ? 'store_full' : 'store_unavailable',
    `${file} was not changed: ${errorMessage(error)}.`,
    {
      mend: full ? 'Free some space on the disk.' : 'Make the file and its folder writable by the gateway.',
      cause: error,
    },
  );
}

function checkPath(keys: readonly string[]): void {
  for (const [depth, key] of keys.entries()) {
    const known = keysAt(keys.slice(0, depth));
    if (known === null || known.includes(key)) continue;
    const guess = nearest(key, known);
    const hint = guess === null ? '' : ` Did you mean ${[...keys.slice(0, depth), guess].join('.')}?`;
    throw new GatewayError('usage', `There is no key ${keys.join('.')}.${hint}`, {
      mend: '`config.example.yaml` shows every key.',
    });
  }
}

function isPlain(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
