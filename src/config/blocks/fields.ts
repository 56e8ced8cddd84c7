import { z } from 'zod';

/** The kinds of value that the blocks are made of. Instances are shared: building a schema is not free at start-up. */

const words: ReadonlyMap<unknown, boolean> = new Map([
  ['on', true],
  ['yes', true],
  ['true', true],
  ['1', true],
  ['off', false],
  ['no', false],
  ['false', false],
  ['0', false],
]);

function toBoolean(value: unknown): unknown {
  return (typeof value === 'string' ? words.get(value.trim().toLowerCase()) : undefined) ?? value;
}

/** YAML 1.1 reads `off` and `no` as false, YAML 1.2 as words; people write both. */
export const flag = z.preprocess(toBoolean, z.boolean());

function toList(value: unknown): unknown {
  if (typeof value === 'string')
    return value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  if (typeof value === 'number') return [String(value)];
  if (Array.isArray(value))
    return value.map((item: unknown) => (typeof item === 'number' ? String(item) : item));
  return value;
}

/** A list of words or ids. `a, b`, `[a, b]` and a single number are all accepted, as env files and YAML have them. */
export const list = z.preprocess(toList, z.array(z.string()));

/** Like `list`, for entries that may hold commas: a single text is one entry. */
export const entries = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  z.array(z.string().min(1)),
);

/** An id or name that YAML may have read as a number. */
export const id = z.preprocess((value) => (typeof value === 'number' ? String(value) : value), z.string());

/** A choice of which one is `off`, which YAML or an env file may spell as false. */
export function choiceWithOff<const T extends readonly string[]>(
  choices: T,
  off: T[number] = 'off',
  on?: T[number],
) {
  const meaning = (value: unknown): unknown => {
    const truth = toBoolean(value);
    if (truth === false) return off;
    return truth === true && on !== undefined ? on : value;
  };
  return z.preprocess(meaning, z.enum(choices));
}

export const onOff = choiceWithOff(['on', 'off'], 'off', 'on');
export const text = z.string();
/** May be empty, which means "not set". */
export const httpUrl = z.union([z.literal(''), z.url({ protocol: /^https?$/ })]);
export const count = z.number().int().min(0);
export const positive = z.number().int().min(1);
export const seconds = z.number().min(0);
export const share = z.number().min(0).max(1);
export const port = z.number().int().min(0).max(65_535);

/** A block in which every key has a default, so that it may be left out. Unknown keys are found and warned about. */
export function block<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape);
}
