import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createThinkFilter } from '../../../../src/model/think-filter.ts';

function filtered(...pieces: string[]): string {
  const filter = createThinkFilter();
  return pieces.map((piece) => filter.push(piece)).join('') + filter.end();
}

describe('the think filter', () => {
  test.each([
    ['<think>plan</think>Answer', 'Answer'],
    ['<think>a</think>\n\nAnswer\n', 'Answer\n'],
    ['One <reasoning>x</reasoning>two', 'One two'],
    ['<THINKING>x < y</THINKING>z', 'z'],
    ['if a < b then <b>bold</b>', 'if a < b then <b>bold</b>'],
    ['a <thin line>', 'a <thin line>'],
    ['never closed <think>and so on', 'never closed '],
    ['ends in <thi', 'ends in <thi'],
    ['<think>a<think>b</think>c', 'c'],
    ['', ''],
  ])('%j shows %j', (text, shown) => {
    expect(filtered(text)).toBe(shown);
  });

  test('shows the same however the text is cut into pieces', () => {
    const words = fc.constantFrom(
      '<think>',
      '</think>',
      '<',
      '>',
      'thi',
      'x',
      ' ',
      '\n',
      '</',
      '<reasoning>',
      '</reasoning>',
    );
    const texts = fc.array(words, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 5 }), (text, size) => {
        const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
        expect(filtered(...pieces)).toBe(filtered(text));
      }),
    );
  });

  test('lets plain text through at once', () => {
    const filter = createThinkFilter();
    expect([filter.push('Hello'), filter.push(', you')]).toEqual(['Hello', ', you']);
  });
});
