import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Approval, ApprovalSubject } from '../../../src/approvals/subject.ts';
import { handleFunctionCall } from '../../../tools/dispatch.ts';
import type { ToolContext } from '../../../tools/tool.ts';
import '../../../tools/patch.ts';
import { createWorkbench, fields, type Workbench } from './support/context.ts';

async function benchWith(files: Record<string, string>): Promise<Workbench> {
  const bench = await createWorkbench();
  for (const [name, text] of Object.entries(files)) await writeFile(join(bench.work, name), text);
  return bench;
}

const patch = async (bench: Workbench, args: Record<string, unknown>, context: Partial<ToolContext> = {}) =>
  fields(await handleFunctionCall('patch', args, bench.context(context)));
const textOf = (bench: Workbench, name: string) => readFile(join(bench.work, name), 'utf8');
const v4a = (...lines: string[]) => ({
  mode: 'patch',
  patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
});

test('one place is replaced and shown as a diff', async () => {
  const bench = await benchWith({ 'a.txt': 'one\ntwo\nthree\n' });
  expect(await patch(bench, { path: 'a.txt', old_string: 'two', new_string: 'zwei' })).toEqual({
    success: true,
    diff: '--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three',
    files_modified: [join(bench.work, 'a.txt')],
    replacements: 1,
  });
  expect(await textOf(bench, 'a.txt')).toBe('one\nzwei\nthree\n');
});

test('a text at several places is refused unless all are meant', async () => {
  const bench = await benchWith({ 'a.txt': 'x\nx\n' });
  expect((await patch(bench, { path: 'a.txt', old_string: 'x', new_string: 'y' }))['error']).toContain(
    '2 places',
  );
  expect(
    await patch(bench, { path: 'a.txt', old_string: 'x', new_string: 'y', replace_all: true }),
  ).toMatchObject({ replacements: 2 });
  expect(await textOf(bench, 'a.txt')).toBe('y\ny\n');
});

test('a dollar sign in the new text is no pattern', async () => {
  const bench = await benchWith({ 'a.txt': 'price\n' });
  await patch(bench, { path: 'a.txt', old_string: 'price', new_string: "$& $1 $$ $'" });
  expect(await textOf(bench, 'a.txt')).toBe("$& $1 $$ $'\n");
});

test.each([
  ['path', { old_string: 'a', new_string: 'b' }, 'path is missing'],
  ['strings', { path: 'a.txt', old_string: 'a' }, 'Both old_string and new_string'],
  ['difference', { path: 'a.txt', old_string: 'a', new_string: 'a' }, 'the same'],
  ['old text', { path: 'a.txt', old_string: '', new_string: 'a' }, 'write_file'],
  ['file', { path: 'nope.txt', old_string: 'a', new_string: 'b' }, 'does not exist'],
  ['patch', { mode: 'patch' }, 'patch is missing'],
])('without a %s the error says what is needed', async (_what, args, message) => {
  const bench = await benchWith({ 'a.txt': 'a' });
  expect((await patch(bench, args))['error']).toContain(message);
});

test('a text that is not there comes with a hint, the third time with a stronger one', async () => {
  const bench = await benchWith({ 'a.txt': 'one\n' });
  const args = { path: 'a.txt', old_string: 'missing', new_string: 'x' };
  expect((await patch(bench, args))['_hint']).toContain('without the line numbers');
  await patch(bench, args);
  expect((await patch(bench, args))['_hint']).toContain('3 patches of this file failed in a row');
  await patch(bench, { path: 'a.txt', old_string: 'one', new_string: 'two' });
  expect((await patch(bench, args))['_hint']).not.toContain('in a row');
});

test('Windows line ends survive an edit', async () => {
  const bench = await benchWith({ 'a.txt': 'one\r\ntwo\r\n' });
  await patch(bench, { path: 'a.txt', old_string: 'one\ntwo', new_string: 'one\n1.5\ntwo' });
  expect(await textOf(bench, 'a.txt')).toBe('one\r\n1.5\r\ntwo\r\n');
});

test('two edits of one file at once both hold', async () => {
  const bench = await benchWith({ 'a.txt': 'one\ntwo\n' });
  await Promise.all([
    patch(bench, { path: 'a.txt', old_string: 'one', new_string: '1' }),
    patch(bench, { path: 'a.txt', old_string: 'two', new_string: '2' }),
  ]);
  expect(await textOf(bench, 'a.txt')).toBe('1\n2\n');
});

test('a V4A patch updates, adds, deletes and moves', async () => {
  const bench = await benchWith({
    'a.ts': 'function a() {\n  return 1;\n}\nfunction b() {\n  return 1;\n}\n',
    'old.txt': 'bye\n',
    'tool.sh': '#!/bin/sh\n',
  });
  await chmod(join(bench.work, 'tool.sh'), 0o755);
  const result = await patch(
    bench,
    v4a(
      '*** Update File: a.ts',
      '@@ function b() {',
      '-  return 1;',
      '+  return 2;',
      '*** Add File: new/n.txt',
      '+hello',
      '+',
      '+world',
      '*** Delete File: old.txt',
      '*** Move File: tool.sh -> bin/tool.sh',
    ),
  );
  const at = (name: string) => join(bench.work, name);
  expect(result).toMatchObject({
    success: true,
    files_modified: [at('a.ts')],
    files_created: [at('new/n.txt'), at('bin/tool.sh')],
    files_deleted: [at('old.txt'), at('tool.sh')],
  });
  expect(await textOf(bench, 'a.ts')).toBe(
    'function a() {\n  return 1;\n}\nfunction b() {\n  return 2;\n}\n',
  );
  expect(await textOf(bench, 'new/n.txt')).toBe('hello\n\nworld\n');
  await expect(textOf(bench, 'old.txt')).rejects.toThrow('ENOENT');
  expect((await stat(at('bin/tool.sh'))).mode & 0o777).toBe(0o755);
});

test('an update may move its file', async () => {
  const bench = await benchWith({ 'a.txt': 'one\n' });
  await patch(bench, v4a('*** Update File: a.txt', '*** Move to: b.txt', '@@', '-one', '+two'));
  expect(await textOf(bench, 'b.txt')).toBe('two\n');
  await expect(textOf(bench, 'a.txt')).rejects.toThrow('ENOENT');
});

test('several hunks apply in order, and lines alone are added at the end', async () => {
  const bench = await benchWith({ 'a.txt': 'a\nx\nb\nx\nc' });
  await patch(
    bench,
    v4a('*** Update File: a.txt', '@@', ' a', '-x', '+1', '@@', ' b', '-x', '+2', '@@', '+end'),
  );
  expect(await textOf(bench, 'a.txt')).toBe('a\n1\nb\n2\nc\nend\n');
});

test('when one hunk does not fit nothing is written', async () => {
  const bench = await benchWith({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
  const result = await patch(
    bench,
    v4a('*** Update File: a.txt', '@@', '-one', '+1', '*** Update File: b.txt', '@@', '-missing', '+2'),
  );
  expect(result['error']).toContain('Hunk 1 of b.txt was not found');
  expect(await textOf(bench, 'a.txt')).toBe('one\n');
});

test.each([
  ['a way out of the folder', ['*** Add File: ../x', '+x'], '".." is not allowed'],
  ['an unknown header', ['*** Erase File: a.txt'], 'is no header'],
  ['an existing file that is added', ['*** Add File: a.txt', '+x'], 'exists already'],
  ['a missing file that is deleted', ['*** Delete File: nope'], 'does not exist'],
  ['a file that is named twice', ['*** Delete File: a.txt', '*** Delete File: ./a.txt'], 'more than once'],
  ['a move over another file', ['*** Move File: a.txt -> b.txt'], 'nothing is moved over it'],
  ['an ambiguous hunk', ['*** Update File: b.txt', '@@', '-x', '+y'], '2 places'],
  ['no change at all', [], 'changes no file'],
])('a patch with %s is refused', async (_what, lines, message) => {
  const bench = await benchWith({ 'a.txt': 'one\n', 'b.txt': 'x\nx\n' });
  expect((await patch(bench, v4a(...lines)))['error']).toContain(message);
  expect([await textOf(bench, 'a.txt'), await textOf(bench, 'b.txt')]).toEqual(['one\n', 'x\nx\n']);
});

test('guarded paths are guarded in every section of a patch', async () => {
  const bench = await benchWith({ 'a.txt': 'one\n', 'AGENTS.md': 'rules\n' });
  expect((await patch(bench, v4a('*** Move File: a.txt -> ~/.ssh/authorized_keys')))['error']).toContain(
    'may not be written',
  );
  const approve = vi.fn(
    async (_subject: ApprovalSubject): Promise<Approval> => ({
      approved: false,
      status: 'blocked',
      message: 'no',
    }),
  );
  expect(
    await patch(bench, v4a('*** Add File: b.txt', '+x', '*** Delete File: AGENTS.md'), { approve }),
  ).toEqual({ error: 'no', status: 'blocked' });
  expect(approve).toHaveBeenCalledWith(
    expect.objectContaining({ kind: 'write', path: join(bench.work, 'AGENTS.md') }),
  );
  expect(await textOf(bench, 'AGENTS.md')).toBe('rules\n');
});

test('a diff shows no secret', async () => {
  const bench = await benchWith({ 'a.txt': `key sk-${'a'.repeat(30)}\nother\n` });
  const { diff } = await patch(bench, { path: 'a.txt', old_string: 'other', new_string: 'more' });
  expect(diff).toContain(' key [redacted]');
  expect(await textOf(bench, 'a.txt')).toContain('sk-aaa');
});

test('an anchor that is not in the file does not make an ambiguous hunk clear', async () => {
  const bench = await benchWith({ 'a.txt': 'x\nx\n' });
  expect((await patch(bench, v4a('*** Update File: a.txt', '@@ nowhere', '-x', '+y')))['error']).toContain(
    '2 places',
  );
});

test('new syntax problems are reported with the edit', async () => {
  const bench = await benchWith({ 'a.json': '{"a": 1}' });
  expect(await patch(bench, { path: 'a.json', old_string: '1}', new_string: '1' })).toHaveProperty(
    'new_syntax_errors',
  );
});
