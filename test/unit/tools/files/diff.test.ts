import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unifiedDiff } from '../../../../tools/files/diff.ts';

test('equal texts have no diff', () => {
  expect(unifiedDiff('a\n', 'a\n', 'x', 'x')).toBe('');
});

test('far changes are hunks of their own, with three lines around', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}\n`);
  const changed = lines.with(2, 'two\n').with(16, 'sixteen\n');
  const diff = unifiedDiff(lines.join(''), changed.join(''), 'a', 'b').split('\n');
  expect(diff.filter((line) => line.startsWith('@@'))).toEqual(['@@ -1,6 +1,6 @@', '@@ -14,7 +14,7 @@']);
});

test('a file that is made or goes is counted from zero', () => {
  expect(unifiedDiff('', 'a\n', '/dev/null', 'a')).toBe('--- /dev/null\n+++ a\n@@ -0,0 +1,1 @@\n+a');
  expect(unifiedDiff('a\n', '', 'a', '/dev/null')).toBe('--- a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a');
});

test('the patch program turns the old text into the new one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hermes-diff-'));
  const text = fc
    .array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n'), { maxLength: 25 })
    .map((lines) => lines.join(''));
  fc.assert(
    fc.property(text, text, fc.boolean(), (before, after, cut) => {
      const wanted = cut ? after.replace(/\n$/, '') : after;
      fc.pre(before !== wanted && before !== '' && wanted !== '');
      const file = join(folder, 'file');
      writeFileSync(file, before);
      execFileSync('git', ['apply', '--unidiff-zero', '--whitespace=nowarn', '-p0', '-'], {
        cwd: folder,
        input: `${unifiedDiff(before, wanted, 'file', 'file')}\n`,
        stdio: ['pipe', 'ignore', 'pipe'],
      });
      expect(readFileSync(file, 'utf8')).toBe(wanted);
    }),
    { numRuns: 40 },
  );
});
