import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { registry } from '../../../tools/registry.ts';
import '../../../tools/search-files.ts';
import type { Environment } from '../../../tools/environments/environment.ts';
import { searchProgram } from '../../../tools/files/search-programs.ts';
import { createWorkbench, fields, type Workbench } from './support/context.ts';

async function benchWith(files: Record<string, string>): Promise<Workbench> {
  const bench = await createWorkbench();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(bench.work, name)), { recursive: true });
    await writeFile(join(bench.work, name), text);
  }
  return bench;
}

const search = async (bench: Workbench, args: Record<string, unknown>) =>
  fields(await registry.dispatch('search_files', args, bench.context()));

const project = {
  'src/a.ts': 'one\nfind me 12\nthree\n',
  'src/deep/b.py': 'find me 7\n',
  'docs/with space.md': 'nothing\n',
  'node_modules/x/i.ts': 'find me 9\n',
};

test('lines are found with their place, sorted by path', async () => {
  const bench = await benchWith(project);
  expect(await search(bench, { pattern: 'find me \\d+' })).toEqual({
    total_count: 2,
    matches: [
      { path: join(bench.work, 'src/a.ts'), line: 2, content: 'find me 12' },
      { path: join(bench.work, 'src/deep/b.py'), line: 1, content: 'find me 7' },
    ],
  });
});

test('a glob narrows the files, braces too', async () => {
  const bench = await benchWith(project);
  expect(await search(bench, { pattern: 'find', file_glob: '*.py' })).toMatchObject({ total_count: 1 });
  expect(await search(bench, { pattern: 'find', file_glob: '*.{py,ts}' })).toMatchObject({ total_count: 2 });
});

test('the output may be files or counts', async () => {
  const bench = await benchWith({ a: 'x\nx\n', b: 'x\n', c: 'y\n' });
  const at = (name: string) => join(bench.work, name);
  expect(await search(bench, { pattern: 'x', output_mode: 'files_only' })).toEqual({
    total_count: 2,
    files: [at('a'), at('b')],
  });
  expect(await search(bench, { pattern: 'x', output_mode: 'count' })).toEqual({
    total_count: 2,
    counts: { [at('a')]: 2, [at('b')]: 1 },
  });
});

test('lines around a hit are shown when they are asked for', async () => {
  const bench = await benchWith({ a: '1\n2\nhit\n4\n5\n' });
  expect(await search(bench, { pattern: 'hit', context: 1 })).toMatchObject({
    matches: [{ line: 3, content: 'hit', before: ['2'], after: ['4'] }],
  });
});

test('files are found by name or glob, and by the old words', async () => {
  const bench = await benchWith(project);
  const found = async (args: Record<string, unknown>) => (await search(bench, args))['files'];
  expect(await found({ pattern: '*.ts', target: 'files' })).toEqual([join(bench.work, 'src/a.ts')]);
  expect(await found({ pattern: 'SPACE', target: 'find' })).toEqual([join(bench.work, 'docs/with space.md')]);
  expect(await found({ pattern: 'deep/*.py', target: 'files' })).toEqual([join(bench.work, 'src/deep/b.py')]);
  expect(await search(bench, { pattern: 'three', target: 'grep' })).toMatchObject({ total_count: 1 });
});

test('more than a page says where the next one starts', async () => {
  const bench = await benchWith({ a: 'x\n'.repeat(5) });
  expect(await search(bench, { pattern: 'x', limit: 2 })).toMatchObject({
    total_count: 5,
    truncated: true,
    _hint: expect.stringContaining('offset=2'),
  });
  const last = await search(bench, { pattern: 'x', limit: 2, offset: 4 });
  expect(last['matches']).toHaveLength(1);
  expect(last).not.toHaveProperty('truncated');
});

test('hits in credential files are left out and counted', async () => {
  const bench = await benchWith({
    '.env': 'KEY=find\n',
    '.env.example': 'KEY=find\n',
    'a/id_rsa': 'find\n',
    'b.pem': 'find\n',
  });
  const result = await search(bench, { pattern: 'find' });
  expect(result).toMatchObject({ total_count: 1, _omitted: 3 });
  expect(JSON.stringify(result['matches'])).toContain('.env.example');
});

test('the gateway’s own secrets are not found, by a link neither', async () => {
  const bench = await benchWith({});
  await writeFile(join(bench.home, 'pairing.json'), 'find me\n');
  await symlink(bench.home, join(bench.work, 'link'));
  expect(await search(bench, { pattern: 'find', path: bench.home })).toMatchObject({
    total_count: 0,
    _omitted: 1,
  });
  expect(await search(bench, { pattern: 'find', path: 'link' })).toMatchObject({
    total_count: 0,
    _omitted: 1,
  });
});

test('known shapes of secrets are redacted', async () => {
  const bench = await benchWith({ a: `token sk-${'a'.repeat(30)}\n` });
  expect(await search(bench, { pattern: 'token' })).toMatchObject({
    matches: [{ content: 'token [redacted]' }],
  });
});

test('the same search is warned about the third time and blocked the fourth', async () => {
  const bench = await benchWith({ a: 'x\n' });
  await search(bench, { pattern: 'x' });
  await search(bench, { pattern: 'x' });
  expect(await search(bench, { pattern: 'x' })).toMatchObject({
    total_count: 1,
    _warning: expect.any(String),
  });
  expect(await search(bench, { pattern: 'x' })).toEqual({
    error: expect.stringContaining('BLOCKED'),
    pattern: 'x',
    already_searched: 4,
  });
  expect(await search(bench, { pattern: 'y' })).toMatchObject({ total_count: 0 });
});

test('nothing found is no error; a missing folder and a bad expression are', async () => {
  const bench = await benchWith({ a: 'x\n' });
  expect(await search(bench, { pattern: 'nothing like it' })).toEqual({ total_count: 0, matches: [] });
  expect((await search(bench, { pattern: 'x', path: 'nope' }))['error']).toContain('does not exist');
  expect((await search(bench, { pattern: '(unclosed' }))['error']).toContain('The search failed');
});

test('a pattern that looks like an option or a command is only a pattern', async () => {
  const bench = await benchWith({ a: '--version; $(touch pwned)\n' });
  expect(await search(bench, { pattern: '--version' })).toMatchObject({ total_count: 1 });
  expect(await search(bench, { pattern: '; \\$\\(touch pwned\\)' })).toMatchObject({ total_count: 1 });
  expect(await search(bench, { pattern: 'pwned', target: 'files' })).toMatchObject({ total_count: 0 });
});

test('a single file can be searched', async () => {
  const bench = await benchWith(project);
  expect(await search(bench, { pattern: 'find', path: 'src/a.ts' })).toMatchObject({ total_count: 1 });
});

test('a folder that is left out elsewhere can be searched by its name', async () => {
  const bench = await benchWith(project);
  expect(await search(bench, { pattern: 'find', path: 'node_modules' })).toMatchObject({
    total_count: 1,
    matches: [{ path: join(bench.work, 'node_modules/x/i.ts') }],
  });
});

/** Toolboxes that this machine has besides its own programs: containers bring others. */
const toolboxes = ['busybox', 'rg'].flatMap((name) => programPath(name) ?? []);

test.each(toolboxes)('the results are the same with %s', async (program) => {
  const bench = await benchWith({ ...project, 'c:d.ts': 'find me 12: x\n' });
  const run: Environment['run'] = (argv, options) => {
    const [name = '', ...args] = argv;
    if (program.endsWith('busybox')) {
      if (name === 'rg') return Promise.reject(new Error('no such program'));
      const inner = args.map((arg) => (arg === 'grep' ? `${bench.folder}/grep` : arg));
      return plain.run([program, name, ...inner], options);
    }
    return plain.run(name === 'rg' ? [program, ...args] : argv, options);
  };
  const plain = bench.environment;
  await symlink(program, `${bench.folder}/grep`);
  const other = {
    ...bench,
    context: () => bench.context({ environment: async () => ({ ...plain, run }), sessionId: program }),
  };
  for (const args of [
    { pattern: 'find me \\d+' },
    { pattern: 'find', file_glob: '*.{py,ts}', output_mode: 'count' },
    { pattern: 'find', file_glob: 'src/*.ts', output_mode: 'files_only' },
    { pattern: 'src/*.ts', target: 'files' },
    { pattern: 'SPACE', target: 'files' },
    { pattern: 'find', path: 'node_modules' },
    { pattern: 'find', path: 'src/a.ts' },
  ]) {
    expect(await search(other, args)).toEqual(await search(bench, args));
  }
});

function programPath(name: string): string | null {
  return (
    ['/usr/bin', '/bin', '/usr/local/bin']
      .map((folder) => join(folder, name))
      .find((path) => existsSync(path)) ?? null
  );
}

test('ripgrep is used where it is, and its output read by its own separators', async () => {
  const bench = await createWorkbench({
    run: async () => ({ exitCode: 0, stdout: 'ripgrep 14', stderr: '' }),
  });
  const program = await searchProgram(bench.environment, new AbortController().signal);
  const request = { mode: 'content', pattern: '-x', path: '/w', fileGlob: '*.ts' } as const;
  expect(program.argv(request)).toEqual(expect.arrayContaining(['rg', '--glob=*.ts', '--null']));
  expect(program.argv(request).slice(-4)).toEqual(['-e', '-x', '--', '/w']);
  expect(program.parse('/w/a:1:b.ts\0' + '12:text: with 3: colons\n', 'content')).toEqual([
    { path: '/w/a:1:b.ts', line: 12, text: 'text: with 3: colons' },
  ]);
});
