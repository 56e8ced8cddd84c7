import { z } from 'zod';

/** The part of JSON Schema that Discord's OpenAPI description uses. */
export interface Schema {
  $ref?: string | undefined;
  type?: string | string[] | undefined;
  enum?: unknown[] | undefined;
  const?: unknown;
  minLength?: number | undefined;
  maxLength?: number | undefined;
  pattern?: string | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  items?: Schema | undefined;
  minItems?: number | undefined;
  maxItems?: number | undefined;
  uniqueItems?: boolean | undefined;
  properties?: Record<string, Schema> | undefined;
  required?: string[] | undefined;
  additionalProperties?: boolean | Schema | undefined;
  oneOf?: Schema[] | undefined;
  anyOf?: Schema[] | undefined;
  allOf?: Schema[] | undefined;
}

export const schemaShape: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    pattern: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    items: schemaShape.optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    uniqueItems: z.boolean().optional(),
    properties: z.record(z.string(), schemaShape).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.union([z.boolean(), schemaShape]).optional(),
    oneOf: z.array(schemaShape).optional(),
    anyOf: z.array(schemaShape).optional(),
    allOf: z.array(schemaShape).optional(),
  }),
);

const object = z.record(z.string(), z.unknown());

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (Number.isInteger(value)) return 'integer';
  return typeof value;
}

/**
 * What is wrong with `value`, each complaint with its path. Stricter than the standard: a field that the schema does
 * not name is a complaint, since the real service would ignore it in silence.
 */
export function createValidator(schemas: Readonly<Record<string, Schema>>) {
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});

  function check(given: Schema, value: unknown, path: string): string[] {
    const schema = resolve(given);
    const kind = typeOf(value);
    const types = schema.type === undefined ? [] : [schema.type].flat();
    const fits = types.includes(kind) || (kind === 'integer' && types.includes('number'));
    if (types.length > 0 && !fits) return [`${path}: ${kind} is not ${types.join(' or ')}`];
    const complaints: string[] = [];
    if (schema.const !== undefined && schema.const !== value)
      complaints.push(`${path}: is not ${schema.const}`);
    if (schema.enum !== undefined && !schema.enum.includes(value)) {
      complaints.push(`${path}: ${JSON.stringify(value)} is none of ${JSON.stringify(schema.enum)}`);
    }
    if (typeof value === 'string') complaints.push(...checkText(schema, value, path));
    if (typeof value === 'number') {
      if (value < (schema.minimum ?? -Infinity)) complaints.push(`${path}: below ${schema.minimum}`);
      if (value > (schema.maximum ?? Infinity)) complaints.push(`${path}: above ${schema.maximum}`);
    }
    if (Array.isArray(value)) complaints.push(...checkList(schema, value, path));
    if (kind === 'object') complaints.push(...checkObject(schema, object.parse(value), path));
    for (const part of schema.allOf ?? []) {
      if (resolve(part).properties === undefined) complaints.push(...check(part, value, path));
    }
    const choices = schema.oneOf ?? schema.anyOf;
    if (choices !== undefined) complaints.push(...checkChoices(choices, value, path));
    return complaints;
  }

  function checkList(schema: Schema, value: readonly unknown[], path: string): string[] {
    const complaints: string[] = [];
    if (value.length < (schema.minItems ?? 0))
      complaints.push(`${path}: fewer than ${schema.minItems} items`);
    if (value.length > (schema.maxItems ?? Infinity))
      complaints.push(`${path}: more than ${schema.maxItems} items`);
    if (
      schema.uniqueItems === true &&
      new Set(value.map((item) => JSON.stringify(item))).size < value.length
    ) {
      complaints.push(`${path}: an item twice`);
    }
    const { items } = schema;
    if (items !== undefined)
      complaints.push(...value.flatMap((item, at) => check(items, item, `${path}[${at}]`)));
    return complaints;
  }

  function checkObject(schema: Schema, value: Record<string, unknown>, path: string): string[] {
    const parts = [schema, ...(schema.allOf ?? []).map(resolve)].filter(
      (part) => part.properties !== undefined,
    );
    if (parts.length === 0) {
      const extra = schema.additionalProperties;
      if (typeof extra !== 'object') return [];
      return Object.entries(value).flatMap(([name, item]) => check(extra, item, `${path}.${name}`));
    }
    const known: Record<string, Schema> = Object.assign({}, ...parts.map((part) => part.properties));
    const missing = parts.flatMap((part) => part.required ?? []).filter((name) => value[name] === undefined);
    return [
      ...missing.map((name) => `${path}.${name}: missing`),
      ...Object.entries(value).flatMap(([name, item]) => {
        if (item === undefined) return [];
        const property = known[name];
        return property === undefined
          ? [`${path}.${name}: unknown field`]
          : check(property, item, `${path}.${name}`);
      }),
    ];
  }

  function checkChoices(choices: readonly Schema[], value: unknown, path: string): string[] {
    const tries = choices.map((choice) => check(choice, value, path));
    if (tries.some((complaints) => complaints.length === 0)) return [];
    // The choice that comes closest tells most: one of the right type, with the fewest complaints.
    const distance = (complaints: readonly string[]) =>
      complaints.length + (complaints.some((complaint) => complaint.startsWith(`${path}: `)) ? 1000 : 0);
    return tries.reduce((best, complaints) => (distance(complaints) < distance(best) ? complaints : best));
  }

  return check;
}

function checkText(schema: Schema, value: string, path: string): string[] {
  const complaints: string[] = [];
  const { length } = [...value];
  if (length < (schema.minLength ?? 0)) complaints.push(`${path}: shorter than ${schema.minLength}`);
  if (length > (schema.maxLength ?? Infinity)) complaints.push(`${path}: longer than ${schema.maxLength}`);
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) {
    complaints.push(`${path}: does not match ${schema.pattern}`);
  }
  return complaints;
}
