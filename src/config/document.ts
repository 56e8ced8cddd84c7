import type { Document, LineCounter } from 'yaml';
import { GatewayError } from '../errors.ts';

/** A parsed `config.yaml` that knows its lines. `document` keeps comments and order, for edits. */
export interface ConfigDocument {
  document: Document;
  /** Plain data; integers too big for a number stay exact as text. */
  data: unknown;
  /** Line of the key at this path, or of the nearest block around it; undefined when the file doesn't have it. */
  lineOf(path: readonly PropertyKey[]): number | undefined;
}

/** Parses YAML. Rejects with `config_invalid`, naming the line, when it is broken. `yaml` is loaded on first use. */
export async function parseConfigDocument(content: string, file: string): Promise<ConfigDocument> {
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(content, { lineCounter: lines, intAsBigInt: true });
  const fault = document.errors[0];
  if (fault !== undefined) {
    const where = lines.linePos(fault.pos[0]);
    // The library's message goes on to quote the lines around the fault, which may hold a secret.
    const what = fault.message.split(' at line ')[0] ?? 'broken';
    throw new GatewayError(
      'config_invalid',
      `${file}, line ${where.line}, column ${where.col}: the YAML is broken: ${what}.`,
      {
        mend: 'Mend that line; indent with spaces and quote texts that hold ": " or "#".',
        cause: fault.code,
      },
    );
  }
  return { document, data: document.toJS(), lineOf: (path) => lineOf(yaml, document, lines, path) };
}

function lineOf(
  yaml: typeof import('yaml'),
  document: Document,
  lines: LineCounter,
  path: readonly PropertyKey[],
): number | undefined {
  let node: unknown = document.contents;
  let line: number | undefined;
  for (const key of path) {
    if (yaml.isMap(node)) {
      const pair = node.items.find(
        (item) => yaml.isScalar(item.key) && String(item.key.value) === String(key),
      );
      if (pair === undefined) return line;
      if (yaml.isScalar(pair.key) && pair.key.range) line = lines.linePos(pair.key.range[0]).line;
      node = pair.value;
    } else if (yaml.isSeq(node)) {
      node = node.items[Number(key)];
      if (yaml.isNode(node) && node.range) line = lines.linePos(node.range[0]).line;
    } else return line;
  }
  return line;
}
