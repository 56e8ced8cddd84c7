import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { packageRoot } from '../package-root.ts';
import { configSchema } from './schema.ts';
import { isTree, type Tree } from './tree.ts';

/**
 * The configuration as a JSON Schema, for editors. Descriptions are the comments of `config.example.yaml`, so that
 * a key is explained in one place.
 */
export async function configJsonSchema(): Promise<Tree> {
  const schema = z.toJSONSchema(configSchema, { io: 'output', unrepresentable: 'any', override: loosen });
  const example = await readFile(join(packageRoot, 'config.example.yaml'), 'utf8');
  await describe(schema, example);
  return { ...schema, title: 'hermes-gateway config.yaml' };
}

/** What people may write is wider than what comes out of it: every key may be left out, a list may be one text. */
function loosen({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  delete jsonSchema.required;
  if (jsonSchema.type === 'array' && isTree(jsonSchema.items) && jsonSchema.items['type'] === 'string') {
    jsonSchema.type = ['array', 'string', 'number'];
    jsonSchema.items = { type: ['string', 'number'] };
  }
}

async function describe(schema: unknown, example: string): Promise<void> {
  const { isMap, isNode, isScalar, parseDocument } = await import('yaml');

  function walk(node: unknown, described: unknown): void {
    if (!isMap(node) || !isTree(described) || !isTree(described['properties'])) return;
    for (const { key, value } of node.items) {
      const property = isScalar(key) ? described['properties'][String(key.value)] : undefined;
      if (!isTree(property)) continue;
      const comment = (isNode(value) && value.comment) || (isNode(key) && key.commentBefore);
      if (comment) property['description'] = comment.trim().replace(/\n\s*/g, ' ');
      walk(value, property);
    }
  }
  walk(parseDocument(example).contents, schema);
}
