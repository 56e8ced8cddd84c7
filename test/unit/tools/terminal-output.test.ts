import { expect, test } from 'vitest';
import { presentOutput } from '../../../tools/terminal/present-output.ts';

test('escape sequences are taken out', () => {
  expect(presentOutput('\x1b[31mred\x1b[0m \x1b]0;title\x07plain', 100)).toBe('red plain');
});

test('of a line that was drawn again only the last state stays', () => {
  expect(presentOutput('10 %\r50 %\r100 %\ndone\r\n', 100)).toBe('100 %\ndone\n');
});

test('binary output is marked instead of shown', () => {
  const bytes = String.fromCharCode(...Array.from({ length: 500 }, (_, index) => index % 32));
  expect(presentOutput(bytes, 1_000)).toMatch(/^\[Binary output of about 500 bytes/);
  expect(presentOutput('\ufffd'.repeat(50), 1_000)).toContain('Binary output');
});

test('text with a stray odd character is still text', () => {
  expect(presentOutput(`${'words '.repeat(100)}\ufffd`, 1_000)).toContain('words');
});

test('long output keeps 40 % of its head and 60 % of its tail', () => {
  const text = `${'a'.repeat(500)}${'b'.repeat(500)}`;
  expect(presentOutput(text, 100)).toBe(`${'a'.repeat(40)}\n[… omitted 900 chars …]\n${'b'.repeat(60)}`);
});

test('a character outside of the basic plane is not cut in half', () => {
  expect(presentOutput('😀'.repeat(100), 51).isWellFormed()).toBe(true);
});
