import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findMatches } from '../../../../tools/files/match.ts';
import { replaceText } from '../../../../tools/files/replace.ts';

test.each([
  ['exact', 'a\nb\nc', 'b', 'X', 'a\nX\nc'],
  ['trailing white space', 'a  \nb\t\nc', 'a\nb', 'X', 'X\nc'],
  [
    'common indentation',
    '    if x:\n        y()\n',
    'if x:\n    y()',
    'if z:\n    y()',
    '    if z:\n        y()\n',
  ],
  ['trimmed lines', '  a\n      b\n', 'a\n  b', 'a\nc', '  a\n  c\n'],
  ['white space', 'let  a =\t1;\n', 'let a = 1;', 'let a = 2;', 'let a = 2;\n'],
  ['typographic characters', 'say “hi” — it’s\n', 'say "hi" - it\'s', 'bye', 'bye\n'],
  ['escapes', 'a\n\tb\n', 'a\\n\\tb', 'a\\n\\tc', 'a\n\tc\n'],
  ['blank edges', 'a b c', '\n\nb\n', 'X', 'a X c'],
  [
    'first and last line',
    'begin\n  one two three four\n  five six seven\nend\n',
    'begin\n  one two three fuor\n  five six seven\nend',
    'X',
    'X\n',
  ],
])('finds by %s', (strategy, text, needle, replacement, expected) => {
  expect(replaceText(text, needle, replacement, false)).toEqual({
    ok: true,
    text: expected,
    count: 1,
    strategy,
  });
});

test('an exact place wins over tolerant ones', () => {
  expect(findMatches('  a\na\n', '  a')?.spans).toEqual([{ start: 0, end: 3 }]);
});

test('what is only remotely alike is not found', () => {
  expect(findMatches('begin\nentirely other text\nend', 'begin\nwhat was asked for here\nend')).toBeNull();
  expect(findMatches('a\n\nb', '\n   \n')).toBeNull();
  expect(findMatches('abc', '')).toBeNull();
});

test('a needle with a final line end takes the line end with it', () => {
  expect(replaceText('a \nb\n', 'a\n', 'x\n', false)).toMatchObject({ text: 'x\nb\n' });
});

test('replacing an exact text is what split and join would do', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'b', '\n', ' '), { maxLength: 30 }),
      fc.constantFrom('a', 'ab', 'b\na', ' a'),
      (letters, needle) => {
        const text = letters.join('');
        fc.pre(text.includes(needle));
        expect(replaceText(text, needle, 'X', true)).toMatchObject({ text: text.split(needle).join('X') });
      },
    ),
  );
});
