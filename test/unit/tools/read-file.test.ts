import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { registry } from '../../../tools/registry.ts';
import '../../../tools/read-file.ts';
import { createWorkbench, fields, type Workbench } from './support/context.ts';

async function benchWith(files: Record<string, string | Uint8Array>): Promise<Workbench> {
  const bench = await createWorkbench();
  for (const [name, content] of Object.entries(files)) await writeFile(join(bench.work, name), content);
  return bench;
}

const read = async (bench: Workbench, args: Record<string, unknown>) =>
  fields(await registry.dispatch('read_file', args, bench.context()));

test('lines come numbered, from the current folder of the terminal', async () => {
  const bench = await benchWith({ 'a.txt': 'one\ntwo\n' });
  expect(await read(bench, { path: 'a.txt' })).toEqual({
    content: '1|one\n2|two',
    total_lines: 2,
    file_size: 8,
    truncated: false,
  });
});

test('~ is the home of the environment', async () => {
  const bench = await createWorkbench();
  await writeFile(join(bench.user, 'notes'), 'hi');
  expect(await read(bench, { path: '~/notes' })).toMatchObject({ content: '1|hi' });
});

test('a range is shown with where it goes on', async () => {
  const bench = await benchWith({ 'a.txt': '1\n2\n3\n4\n5' });
  expect(await read(bench, { path: 'a.txt', offset: 2, limit: 2 })).toMatchObject({
    content: '2|2\n3|3',
    total_lines: 5,
    truncated: true,
    _hint: expect.stringContaining('offset=4'),
  });
});

test('an empty file and an offset behind the end are no errors', async () => {
  const bench = await benchWith({ empty: '', 'a.txt': 'x' });
  expect(await read(bench, { path: 'empty' })).toMatchObject({ content: '', total_lines: 0 });
  expect(await read(bench, { path: 'a.txt', offset: 9 })).toMatchObject({
    content: '',
    _hint: expect.stringContaining('only 1 lines'),
  });
});

test('a missing file is named together with names like it', async () => {
  const bench = await benchWith({ 'config.yaml': '', 'other.txt': '' });
  const result = await read(bench, { path: 'config.yml' });
  expect(result['error']).toContain('does not exist');
  expect(result['similar_files']).toEqual([join(bench.work, 'config.yaml')]);
});

test('binaries, images, folders and devices are refused, each with the way out', async () => {
  const bench = await benchWith({
    'a.bin': new Uint8Array([1, 0, 2]),
    'a.png': 'x',
    latin: new Uint8Array([0x63, 0xe9, 0x20]),
  });
  await symlink('/dev/zero', join(bench.work, 'zero'));
  expect((await read(bench, { path: 'a.bin' }))['error']).toContain('binary');
  expect((await read(bench, { path: 'latin' }))['error']).toContain('binary');
  expect((await read(bench, { path: 'a.png' }))['error']).toContain('vision_analyze');
  expect((await read(bench, { path: '.' }))['error']).toContain('search_files');
  expect((await read(bench, { path: 'zero' }))['error']).toContain('device');
});

test('too much at once is refused with advice to page', async () => {
  const bench = await benchWith({ 'big.txt': `${'x'.repeat(1_000)}\n`.repeat(200) });
  expect((await read(bench, { path: 'big.txt' }))['error']).toContain('offset and limit');
  expect(await read(bench, { path: 'big.txt', limit: 50 })).toMatchObject({ total_lines: 200 });
});

test('a very long line is cut and says by how much', async () => {
  const bench = await benchWith({ 'min.js': 'x'.repeat(5_000) });
  expect((await read(bench, { path: 'min.js' }))['content']).toBe(
    `1|${'x'.repeat(2_000)}… [3000 more characters]`,
  );
});

test('reading the same again is answered shortly, then warned about, then blocked', async () => {
  const bench = await benchWith({ 'a.txt': 'x' });
  await read(bench, { path: 'a.txt' });
  expect(await read(bench, { path: 'a.txt' })).toMatchObject({ status: 'unchanged' });
  expect(await read(bench, { path: 'a.txt' })).toMatchObject({
    status: 'unchanged',
    _warning: expect.any(String),
  });
  expect(await read(bench, { path: 'a.txt' })).toMatchObject({
    error: expect.stringContaining('BLOCKED'),
    already_read: 4,
  });
});

test('a file that changed is read again', async () => {
  const bench = await benchWith({ 'a.txt': 'x' });
  await read(bench, { path: 'a.txt' });
  await writeFile(join(bench.work, 'a.txt'), 'y');
  await utimes(join(bench.work, 'a.txt'), 1, 1);
  expect(await read(bench, { path: 'a.txt' })).toMatchObject({ content: '1|y' });
});

test('known shapes of secrets are redacted', async () => {
  const bench = await benchWith({ 'a.txt': `key: sk-${'a'.repeat(30)}` });
  expect((await read(bench, { path: 'a.txt' }))['content']).toBe('1|key: [redacted]');
});

test('the gateway’s own secrets are not read out, by a link neither', async () => {
  const bench = await createWorkbench();
  await writeFile(join(bench.home, '.env'), 'ODD_FORM=1234');
  await symlink(join(bench.home, '.env'), join(bench.work, 'innocent'));
  expect((await read(bench, { path: join(bench.home, '.env') }))['error']).toContain('secrets');
  expect((await read(bench, { path: 'innocent' }))['error']).toContain('secrets');
});

test('a notebook is read as its cells', async () => {
  const cells = [
    { cell_type: 'markdown', source: ['# T\n', 'text'] },
    { cell_type: 'code', source: 'print(1)', outputs: [{ text: ['1\n'] }] },
  ];
  const bench = await benchWith({ 'n.ipynb': JSON.stringify({ cells }) });
  expect((await read(bench, { path: 'n.ipynb' }))['content']).toBe(
    [
      '1|=== cell 1 (markdown)',
      '2|# T',
      '3|text',
      '4|',
      '5|=== cell 2 (code)',
      '6|print(1)',
      '7|--- output',
      '8|1',
    ].join('\n'),
  );
});

test('Word and Excel files are read as text', async () => {
  const bench = await benchWith({
    'a.docx': zip({
      'word/document.xml': '<w:p><w:t>Hello &amp; </w:t><w:t>welcome</w:t></w:p><w:p><w:t>Two</w:t></w:p>',
    }),
    'a.xlsx': zip({
      'xl/sharedStrings.xml': '<sst><si><t>Name</t></si><si><r><t>An</t></r><r><t>n</t></r></si></sst>',
      'xl/worksheets/sheet1.xml':
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"/></row><row r="2"><c t="s"><v>1</v></c><c><v>3.5</v></c></row>',
    }),
    'broken.docx': 'no zip',
  });
  expect((await read(bench, { path: 'a.docx' }))['content']).toBe('1|Hello & welcome\n2|Two');
  expect((await read(bench, { path: 'a.xlsx' }))['content']).toBe('1|=== sheet1\n2|Name\t\n3|Ann\t3.5');
  expect((await read(bench, { path: 'broken.docx' }))['error']).toContain('no zip file');
});

test('paths with a NUL character and empty paths are refused', async () => {
  const bench = await createWorkbench();
  await mkdir(join(bench.work, 'x'));
  expect((await read(bench, { path: 'a\0b' }))['error']).toContain('NUL');
  expect((await read(bench, { path: ' ' }))['error']).toContain('empty');
});

/** A zip file as office programs write it, deflated. */
function zip(members: Record<string, string>): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(members)) {
    const packed = deflateRawSync(text);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(8, 8);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, Buffer.from(name), packed);
    entries.push(entry, Buffer.from(name));
    offset += 30 + name.length + packed.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(members).length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}
