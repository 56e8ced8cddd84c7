import { mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Approval, ApprovalSubject } from '../../../src/approvals/subject.ts';
import { handleFunctionCall } from '../../../tools/dispatch.ts';
import '../../../tools/read-file.ts';
import '../../../tools/write-file.ts';
import type { ToolContext } from '../../../tools/tool.ts';
import { createWorkbench, fields, type Workbench } from './support/context.ts';

const write = async (bench: Workbench, args: Record<string, unknown>, context: Partial<ToolContext> = {}) =>
  fields(await handleFunctionCall('write_file', args, bench.context(context)));
const textOf = (bench: Workbench, name: string) => readFile(join(bench.work, name), 'utf8');

test('a file is made with its folders', async () => {
  const bench = await createWorkbench();
  expect(await write(bench, { path: 'a/b/c.txt', content: 'grüß' })).toEqual({
    success: true,
    path: join(bench.work, 'a/b/c.txt'),
    bytes_written: 6,
    created: true,
  });
  expect(await textOf(bench, 'a/b/c.txt')).toBe('grüß');
});

test('a missing path and a missing content each say what to do', async () => {
  const bench = await createWorkbench();
  expect((await write(bench, { content: 'x' }))['error']).toContain('path: missing');
  expect((await write(bench, { path: 'a' }))['error']).toMatch(/content: missing.*dropped.*again/);
  expect((await write(bench, { path: 'a', content: { a: 1 } }))['error']).toContain('content: not a string');
});

test('text that still bears line numbers is refused', async () => {
  const bench = await createWorkbench();
  expect((await write(bench, { path: 'a', content: '7|one\n8|two\n9|three' }))['error']).toContain(
    'line numbers',
  );
  expect(await write(bench, { path: 'table', content: '1|one\n1|two\n' })).toMatchObject({ success: true });
});

test.each([
  '.ssh/authorized_keys',
  '.ssh/new/key',
  '.aws/credentials',
  '.gnupg/x',
  '.kube/config',
  '.netrc',
  '.pgpass',
  '.npmrc',
  '.pypirc',
  '.bashrc',
  '.zshenv',
  '.profile',
  '.SSH/id_rsa',
])('~/%s is never written, whoever approves', async (name) => {
  const bench = await createWorkbench();
  const approve = vi.fn(async (): Promise<Approval> => ({ approved: true }));
  const result = await write(bench, { path: `~/${name}`, content: 'x' }, { approve });
  expect(result['error']).toContain('may not be written');
  expect(approve).not.toHaveBeenCalled();
});

test.each(['/etc/sudoers', '/etc/sudoers.d/x', '/etc/passwd', '/etc/shadow', '/dev/null'])(
  '%s is never written',
  async (path) => {
    expect((await write(await createWorkbench(), { path, content: 'x' }))['error']).toContain(
      'may not be written',
    );
  },
);

test.each(['.env', 'auth.json', 'tokens/x', 'pairing.json', 'state.db', 'state.db-wal', 'gateway.pid'])(
  'the gateway’s %s is never written',
  async (name) => {
    const bench = await createWorkbench();
    expect((await write(bench, { path: join(bench.home, name), content: 'x' }))['error']).toContain(
      'may not be written',
    );
  },
);

test('a link to a guarded place is seen through, also one of its folder and one to nothing', async () => {
  const bench = await createWorkbench();
  await mkdir(join(bench.user, '.ssh'));
  await writeFile(join(bench.user, '.ssh/config'), 'old');
  await symlink(join(bench.user, '.ssh/config'), join(bench.work, 'file-link'));
  await symlink(join(bench.user, '.ssh'), join(bench.work, 'folder-link'));
  await symlink(join(bench.user, '.ssh/authorized_keys'), join(bench.work, 'dangling'));
  for (const path of ['file-link', 'folder-link/authorized_keys', 'folder-link/new/deep']) {
    expect((await write(bench, { path, content: 'x' }))['error']).toContain('may not be written');
  }
  expect((await write(bench, { path: 'dangling', content: 'x' }))['error']).toContain('link to nothing');
  expect(await readFile(join(bench.user, '.ssh/config'), 'utf8')).toBe('old');
});

test.each(['AGENTS.md', 'sub/CLAUDE.md', '.cursorrules'])(
  '%s is written after a person agreed',
  async (path) => {
    const bench = await createWorkbench();
    const approve = vi.fn(
      async (_subject: ApprovalSubject): Promise<Approval> => ({ approved: true, note: 'approved by Ann' }),
    );
    expect(await write(bench, { path, content: 'x' }, { approve })).toMatchObject({
      success: true,
      approval: 'approved by Ann',
    });
    expect(approve).toHaveBeenCalledWith({
      kind: 'write',
      path: join(bench.work, path),
      reason: 'agents read it as instructions',
    });
  },
);

test('the gateway’s config is not written when the person refuses', async () => {
  const bench = await createWorkbench();
  const approve = async (): Promise<Approval> => ({
    approved: false,
    status: 'blocked',
    message: 'Ann said no.',
  });
  const path = join(bench.home, 'config.yaml');
  expect(await write(bench, { path, content: 'approvals: {mode: off}' }, { approve })).toEqual({
    error: 'Ann said no.',
    status: 'blocked',
  });
  await expect(readFile(path)).rejects.toThrow('ENOENT');
});

test('writes stay within the safe roots when there are some', async () => {
  const bench = await createWorkbench();
  const config = { ...bench.context().config, writeSafeRoots: [join(bench.work, 'safe')] };
  await symlink(bench.user, join(bench.work, 'way-out'));
  expect((await write(bench, { path: 'other.txt', content: 'x' }, { config }))['error']).toContain(
    'HERMES_WRITE_SAFE_ROOT',
  );
  expect((await write(bench, { path: 'safe-not/x', content: 'x' }, { config }))['error']).toContain(
    'HERMES_WRITE_SAFE_ROOT',
  );
  expect((await write(bench, { path: 'way-out/x', content: 'x' }, { config }))['error']).toContain(
    'HERMES_WRITE_SAFE_ROOT',
  );
  expect(await write(bench, { path: 'safe/x', content: 'x' }, { config })).toMatchObject({ success: true });
});

test('Windows line ends and a byte order mark survive', async () => {
  const bench = await createWorkbench();
  await writeFile(join(bench.work, 'a.txt'), '\uFEFFone\r\ntwo\r\n');
  await write(bench, { path: 'a.txt', content: 'three\nfour\n' });
  expect(await textOf(bench, 'a.txt')).toBe('\uFEFFthree\r\nfour\r\n');
});

test('only new syntax problems are reported', async () => {
  const bench = await createWorkbench();
  expect(await write(bench, { path: 'a.json', content: '{"a": 1' })).toMatchObject({
    new_syntax_errors: [expect.any(String)],
  });
  expect(await write(bench, { path: 'a.json', content: '{"b": 12' })).not.toHaveProperty('new_syntax_errors');
  expect(await write(bench, { path: 'tsconfig.json', content: '{ // why\n}' })).not.toHaveProperty(
    'new_syntax_errors',
  );
  expect(await write(bench, { path: 'a.ts', content: 'const x: number = 1;\n' })).not.toHaveProperty(
    'new_syntax_errors',
  );
  expect(await write(bench, { path: 'a.ts', content: 'const x: = 1;\n' })).toMatchObject({
    new_syntax_errors: ['line 1: Unexpected token'],
  });
  expect(await write(bench, { path: 'a.yaml', content: 'a: [1\nb: 2\n' })).toHaveProperty(
    'new_syntax_errors',
  );
  expect(await write(bench, { path: 'a.sh', content: 'if true; then\n' })).toHaveProperty(
    'new_syntax_errors',
  );
});

test('a file that changed behind the agent’s back is written with a warning', async () => {
  const bench = await createWorkbench();
  const path = join(bench.work, 'a.txt');
  await writeFile(path, 'one');
  await handleFunctionCall('read_file', { path }, bench.context());
  await writeFile(path, 'someone else');
  await utimes(path, 5, 5);
  expect(await write(bench, { path, content: 'mine' })).toMatchObject({
    _warning: expect.stringContaining('changed on disk'),
  });
  expect(await write(bench, { path, content: 'again' })).not.toHaveProperty('_warning');
});

test('a sibling session’s write is named as such', async () => {
  const bench = await createWorkbench();
  await write(bench, { path: 'a.txt', content: 'one' });
  await write(bench, { path: 'a.txt', content: 'of the sibling' }, { sessionId: 'sibling' });
  expect(await write(bench, { path: 'a.txt', content: 'mine' })).toMatchObject({
    _warning: expect.stringContaining('Another session'),
  });
});

test('the mark of a redacted secret is not written over the secret', async () => {
  const bench = await createWorkbench();
  const secret = `key: sk-${'a'.repeat(30)}\n`;
  await writeFile(join(bench.work, 'a.txt'), secret);
  expect((await write(bench, { path: 'a.txt', content: 'key: [redacted]\n' }))['error']).toContain(
    'destroy the secret',
  );
  expect(await textOf(bench, 'a.txt')).toBe(secret);
});
