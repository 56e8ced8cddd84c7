import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { type Fields, isFields } from './wire.ts';

const file = new URL('../../../../shared/api-specs/telegram-bot-api.json', import.meta.url);

const field = z.object({ name: z.string(), types: z.array(z.string()), required: z.boolean() });
const description = z.object({
  methods: z.record(z.string(), z.object({ fields: z.array(field).optional() })),
  types: z.record(
    z.string(),
    z.object({ fields: z.array(field).optional(), subtypes: z.array(z.string()).optional() }),
  ),
});
type Field = z.infer<typeof field>;

export interface DescriptionCheck {
  /** Complaints about a call; none for a good one. */
  (method: string, fields: Fields): string[];
  knows(method: string): boolean;
}

/** Checks calls against Telegram's published API description. Without that file nothing is checked. */
export function loadDescription(): DescriptionCheck {
  if (!existsSync(file)) return Object.assign(() => [], { knows: () => false });
  const { methods, types } = description.parse(JSON.parse(readFileSync(file, 'utf8')));
  const byName = (fields: readonly Field[] = []) => new Map(fields.map((one) => [one.name, one]));
  const methodFields = new Map(Object.entries(methods).map(([name, { fields }]) => [name, byName(fields)]));
  const typeFields = new Map(Object.entries(types).map(([name, { fields }]) => [name, byName(fields)]));

  function checkAll(where: string, known: ReadonlyMap<string, Field>, given: Fields): string[] {
    const complaints: string[] = [];
    for (const [name, value] of Object.entries(given)) {
      const expected = known.get(name);
      if (expected === undefined) complaints.push(`${where}: unknown field ${name}`);
      else if (!expected.types.some((type) => fits(value, type))) {
        complaints.push(`${where}: field ${name} is not ${expected.types.join(' or ')}`);
      }
    }
    for (const { name, required } of known.values()) {
      if (required && given[name] === undefined) complaints.push(`${where}: field ${name} is missing`);
    }
    return complaints;
  }

  function fits(value: unknown, type: string): boolean {
    if (type.startsWith('Array of ')) {
      return Array.isArray(value) && value.every((item) => fits(item, type.slice('Array of '.length)));
    }
    switch (type) {
      case 'Integer':
        return Number.isInteger(value);
      case 'Float':
        return typeof value === 'number';
      case 'Boolean':
        return typeof value === 'boolean';
      case 'String':
      case 'InputFile':
        return typeof value === 'string';
      default:
        return isFields(value) && fitsObject(type, value);
    }
  }

  function fitsObject(type: string, value: Fields): boolean {
    const subtypes = types[type]?.subtypes ?? [];
    if (subtypes.length > 0) return subtypes.some((subtype) => fitsObject(subtype, value));
    return checkAll(type, typeFields.get(type) ?? new Map(), value).length === 0;
  }

  const check = (method: string, fields: Fields) => {
    const known = methodFields.get(method);
    return known === undefined ? [`${method}: no such method`] : checkAll(method, known, fields);
  };
  return Object.assign(check, { knows: (method: string) => methodFields.has(method) });
}
