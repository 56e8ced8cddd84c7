import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutPieces, splitMarkdown } from '../../../../platforms/format/split.ts';
import { toTelegramHtml } from '../../../../platforms/format/telegram-html.ts';
import { checkTelegramHtml } from '../../../emulators/telegram/html.ts';
import { someMarkdown } from './markdown-samples.ts';

const limits = fc.integer({ min: 200, max: 600 });

describe('splitMarkdown', () => {
  test('loses nothing: the parts joined, less what was closed and opened again, are the text', () => {
    fc.assert(
      fc.property(someMarkdown, limits, (markdown, limit) => {
        const bodies = cutPieces(markdown, { limit }).map(({ body }) => body);
        expect(bodies.join('')).toBe(markdown);
      }),
    );
  });

  test('keeps every part within the limit as the platform counts it after rendering', () => {
    const measure = (part: string) => toTelegramHtml(part).length;
    fc.assert(
      fc.property(someMarkdown, limits, (markdown, limit) => {
        for (const part of splitMarkdown(markdown, { limit, measure }))
          expect(measure(part)).toBeLessThanOrEqual(limit);
      }),
    );
  });

  test('never cuts a surrogate pair', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 200, maxLength: 900 }), (text) => {
        for (const { body } of cutPieces(text, { limit: 200 })) expect(body.isWellFormed()).toBe(true);
      }),
    );
  });

  test('keeps an emoji at the border whole', () => {
    expect(splitMarkdown(`${'a'.repeat(4095)}😀`, { limit: 4096 })).toEqual([
      'a'.repeat(4080),
      `${'a'.repeat(15)}😀`,
    ]);
    const family = '👩‍👩‍👧‍👦';
    const parts = splitMarkdown(family.repeat(40), { limit: 100 });
    for (const part of parts) expect(part.replaceAll(family, '')).toBe('');
  });

  test('closes a code fence at the cut and opens it again with its language', () => {
    const code = Array.from({ length: 60 }, (_, line) => `const line${line} = ${line};`).join('\n');
    const parts = splitMarkdown(`Look:\n\n\`\`\`ts\n${code}\n\`\`\`\n`, { limit: 400 });
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) expect(part.match(/^```/gm)).toHaveLength(2);
    for (const part of parts.slice(1)) expect(part.startsWith('```ts\n')).toBe(true);
  });

  test('repeats the header of a table that is cut', () => {
    const rows = Array.from({ length: 40 }, (_, row) => `| ${row} | value ${row} |`).join('\n');
    const parts = splitMarkdown(`| n | v |\n|---|---|\n${rows}\n`, { limit: 300 });
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect(part.startsWith('| n | v |\n|---|---|\n')).toBe(true);
  });

  test('prefers the border of a paragraph, then of a line, then of a word', () => {
    const paragraph = 'word '.repeat(20).trim();
    expect(splitMarkdown(`${paragraph}\n\n${paragraph}`, { limit: 150 })).toEqual([
      `${paragraph}\n\n`,
      paragraph,
    ]);
    for (const part of splitMarkdown('wordwordword '.repeat(50), { limit: 100 }))
      expect(part).toMatch(/^(wordwordword ?)+$/);
  });

  test('does not cut where what follows would turn into a mark and be lost', () => {
    for (const sign of ['>', '# x', '- x', '1. x', '+ x']) {
      const markdown = `some words ${sign} `.repeat(100);
      for (const part of splitMarkdown(markdown, { limit: 150 })) expect(part).toMatch(/^(some|words|x) /);
    }
    for (const part of splitMarkdown('<&>'.repeat(300), { limit: 200 })) expect(part).not.toMatch(/^>/);
  });

  test('loses no sign of a long line, wherever it is cut', () => {
    const signs = fc.array(fc.constantFrom('word', '>', '#', '-', '+', '1.', '<&>', '|', '='), {
      minLength: 40,
      maxLength: 200,
    });
    fc.assert(
      fc.property(signs, (words) => {
        const markdown = `begin ${words.join(' ')}`;
        const shown = splitMarkdown(markdown, { limit: 150 }).map(
          (part) => checkTelegramHtml(toTelegramHtml(part)).text,
        );
        expect(shown.join('').replace(/\s/g, '')).toBe(markdown.replace(/\s/g, ''));
      }),
    );
  });

  test('does not cut inline code, a link or an address', () => {
    for (const whole of [
      '`some inline code here`',
      '[a label](https://example.com/some/path)',
      'https://example.com/a/path',
    ]) {
      for (let shift = 60; shift < 100; shift++) {
        const parts = splitMarkdown(`${'x'.repeat(shift)} ${whole} ${'y '.repeat(40)}`, { limit: 120 });
        expect(parts.filter((part) => part.includes(whole))).toHaveLength(1);
      }
    }
  });

  test('takes time in proportion to the text', () => {
    const time = (units: number) => {
      const text = '`a` [b](c) <d> word\n'.repeat(units / 20);
      const startedAt = performance.now();
      splitMarkdown(text, { limit: 2000 });
      return performance.now() - startedAt;
    };
    time(100_000);
    expect(time(800_000)).toBeLessThan(40 * Math.max(5, time(100_000)));
  });
});
