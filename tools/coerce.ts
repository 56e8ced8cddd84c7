import { isRecord } from './results.ts';
import type { JsonSchema } from './tool.ts';

/**
 * Bends what a model wrote towards what the schema asks for: `"42"` to 42, `"true"` to true, JSON text to an
 * array or object, a lone scalar to a list of one, `"null"` to null where null is allowed. What does not
 * convert cleanly stays as it was, so that the tool's own check can name it. Arguments that are no object become `{}`.
 */
export function coerceArgs(schema: JsonSchema | null, args: unknown): Record<string, unknown> {
  if (!isRecord(args)) return {};
  return schema === null ? args : coerceProperties(schema, args);
}

function coerceValue(schema: JsonSchema, value: unknown): unknown {
  const options = alternatives(schema);
  if (value === 'null' && options.some((option) => option['type'] === 'null')) return null;
  // The first type that parses wins, in the order in which the schema names them.
  for (const option of options) {
    const converted = fits(option, value) ? value : convert(option, value);
    if (converted !== undefined) return descend(option, converted);
  }
  return value;
}

/** A union as a list of plain schemas. */
function alternatives(schema: JsonSchema): readonly JsonSchema[] {
  const union = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(union)) return union.filter(isRecord).flatMap((option) => alternatives(option));
  const type = schema['type'];
  if (!Array.isArray(type)) return schema['nullable'] === true ? [schema, { type: 'null' }] : [schema];
  return type.map((one: unknown) => ({ ...schema, type: one }));
}

function fits(schema: JsonSchema, value: unknown): boolean {
  switch (schema['type']) {
    case 'string':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isRecord(value);
    default:
      return true;
  }
}

/** The value in the wanted type, or undefined when it does not parse. */
function convert(schema: JsonSchema, value: unknown): unknown {
  if (schema['type'] === 'array') return toArray(value);
  if (typeof value !== 'string') return undefined;
  switch (schema['type']) {
    case 'number':
      return toNumber(value);
    case 'integer': {
      const number = toNumber(value);
      return Number.isSafeInteger(number) ? number : undefined;
    }
    case 'boolean':
      return { true: true, false: false }[value.trim().toLowerCase()];
    case 'object': {
      const parsed = parseJson(value);
      return isRecord(parsed) ? parsed : undefined;
    }
    default:
      return undefined;
  }
}

function toArray(value: unknown): unknown {
  if (typeof value === 'string') {
    const parsed = value.trimStart().startsWith('[') ? parseJson(value) : undefined;
    return Array.isArray(parsed) ? parsed : [value];
  }
  return typeof value === 'number' || typeof value === 'boolean' ? [value] : undefined;
}

function toNumber(text: string): number | undefined {
  if (!/^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not JSON: the original value is kept.
  }
}

function descend(schema: JsonSchema, value: unknown): unknown {
  if (isRecord(value)) return coerceProperties(schema, value);
  const items = schema['items'];
  return Array.isArray(value) && isRecord(items) ? value.map((item) => coerceValue(items, item)) : value;
}

function coerceProperties(schema: JsonSchema, value: Record<string, unknown>): Record<string, unknown> {
  const properties = schema['properties'];
  if (!isRecord(properties)) return value;
  const coerced = { ...value };
  for (const [name, property] of Object.entries(properties)) {
    if (Object.hasOwn(value, name) && isRecord(property)) coerced[name] = coerceValue(property, value[name]);
  }
  return coerced;
}
