import { z } from 'zod';
import { configSchema } from './schema.ts';

/** Takes defaults, options and conversions off a schema. */
function core(schema: unknown): unknown {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return core(schema.unwrap());
  }
  return schema instanceof z.ZodPipe ? core(schema.out) : schema;
}

/** The keys of the block at a path, or null when there is no block there or it takes any key. */
export function keysAt(path: readonly PropertyKey[]): string[] | null {
  let schema: unknown = core(configSchema);
  for (const key of path) {
    if (schema instanceof z.ZodObject) schema = core(schema.shape[String(key)]);
    else if (schema instanceof z.ZodRecord) schema = core(schema.valueType);
    else if (schema instanceof z.ZodArray) schema = core(schema.element);
    else return null;
  }
  return schema instanceof z.ZodObject && Object.keys(schema.shape).length > 0
    ? Object.keys(schema.shape)
    : null;
}

/** Every key with a value of its own, as dotted paths; the inside of open records and lists is not listed. */
export function allKeys(path: readonly string[] = []): string[] {
  const keys = keysAt(path);
  if (keys === null) return [path.join('.')];
  return keys.flatMap((key) => allKeys([...path, key]));
}
