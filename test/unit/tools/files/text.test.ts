import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  decodeText,
  encodeText,
  hasLineNumbers,
  isBinary,
  numberLines,
  sliceLines,
} from '../../../../tools/files/text.ts';

const bytes = (text: string) => Buffer.from(text, 'utf8');

test('a slice is what splitting the whole text would give', () => {
  const text = fc
    .array(fc.constantFrom('a', 'ü', '\n', '\r\n', '🙂'), { maxLength: 40 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(
      text,
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 12 }),
      (whole, offset, limit) => {
        const all =
          whole === ''
            ? []
            : whole
                .replace(/\n$/, '')
                .split('\n')
                .map((line) => line.replace(/\r$/, ''));
        expect(sliceLines(bytes(whole), offset, limit)).toEqual({
          lines: all.slice(offset - 1, offset - 1 + limit),
          totalLines: all.length,
        });
      },
    ),
  );
});

test('decoding and encoding give the same bytes back', () => {
  for (const text of ['', 'a\nb', 'a\r\nb\r\n', '\uFEFFa\r\n', 'mixed\r\nends\n', 'lone\rcr']) {
    const file = decodeText(bytes(text));
    expect(file && Buffer.from(encodeText(file)).toString('utf8')).toBe(text);
  }
});

test('a character cut by the sniffed head does not make a file binary', () => {
  expect(isBinary(bytes(`${'x'.repeat(8_191)}ü`))).toBe(false);
  expect(isBinary(new Uint8Array([0xff, 0xfe, 0x61]))).toBe(true);
});

test('numbered lines are recognised as such', () => {
  expect(hasLineNumbers(numberLines(['a', 'b', ''], 9))).toBe(true);
  expect(hasLineNumbers('1|a')).toBe(false);
  expect(hasLineNumbers('a|b\nc|d')).toBe(false);
});
