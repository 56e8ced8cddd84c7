import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coerceArgs } from '../../../tools/coerce.ts';

const one = (schema: Record<string, unknown>, value: unknown) =>
  coerceArgs({ type: 'object', properties: { x: schema } }, { x: value })['x'];

test.each([
  ['a number in a string', { type: 'integer' }, '42', 42],
  ['a fraction in a string', { type: 'number' }, '3.5', 3.5],
  ['true', { type: 'boolean' }, 'true', true],
  ['false', { type: 'boolean' }, 'False', false],
  ['JSON text for an array', { type: 'array', items: { type: 'integer' } }, '["1", 2]', [1, 2]],
  [
    'JSON text for an object',
    { type: 'object', properties: { a: { type: 'boolean' } } },
    '{"a":"true"}',
    { a: true },
  ],
  ['a lone string for an array', { type: 'array', items: { type: 'string' } }, 'a', ['a']],
  ['a lone number for an array', { type: 'array' }, 7, [7]],
  ['"null" where null is allowed', { type: ['string', 'null'] }, 'null', null],
  ['"null" in a union', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, 'null', null],
  ['the first type of a union that parses', { type: ['integer', 'string'] }, '42', 42],
  ['the second type of a union when the first does not parse', { type: ['integer', 'string'] }, 'x', 'x'],
])('coerces %s', (_name, schema, value, expected) => {
  expect(one(schema, value)).toEqual(expected);
});

test.each([
  ['a fraction where a whole number is wanted', { type: 'integer' }, '3.5'],
  ['words where a number is wanted', { type: 'number' }, 'many'],
  ['Infinity', { type: 'number' }, 'Infinity'],
  ['NaN', { type: 'number' }, 'NaN'],
  ['a number beyond doubles', { type: 'number' }, '1e999'],
  ['a number too long to be exact', { type: 'integer' }, '12345678901234567890'],
  ['broken JSON', { type: 'object' }, '{"a":'],
  ['a string where a string is wanted', { type: 'string' }, '42'],
  ['"null" where null is not allowed', { type: 'string' }, 'null'],
])('keeps %s as it was', (_name, schema, value) => {
  expect(one(schema, value)).toBe(value);
});

test('arguments that are no object become none', () => {
  for (const args of ['text', 3, null, undefined, ['a']])
    expect(coerceArgs({ type: 'object' }, args)).toEqual({});
});

test('never throws, and coercing twice is coercing once', () => {
  const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object', 'null');
  fc.assert(
    fc.property(fc.uniqueArray(type, { minLength: 1 }), fc.jsonValue(), (types, value) => {
      const once = one({ type: types }, value);
      expect(one({ type: types }, once)).toEqual(once);
    }),
  );
});
