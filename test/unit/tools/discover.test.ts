import { execFile } from 'node:child_process';
import { mkdtemp, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { silentLog } from '../../../src/log.ts';
import { discoverTools } from '../../../tools/discover.ts';
import { recordingLog } from './support/log.ts';

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-discover-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

const registers = 'registry.register({ name: "x" });\n';

test('imports the files that register at their top level, sorted by name', async () => {
  const folder = await folderWith({
    'zebra.ts': `const a: number = 1;\n${registers}`,
    'ant.js': registers,
    'inside.ts': `export function later() {\n${registers}}\n`,
    'nested.ts': `if (true) { ${registers} }`,
    'other.ts': 'registry.get("x"); console.register(1);',
    'text.ts': '// registry.register({})\nexport const s = "registry.register({})";',
    'helpers.ts': registers,
    'index.ts': registers,
    'registry.ts': registers,
    'types.d.ts': registers,
    'notes.md': registers,
  });
  const imported: string[] = [];
  const importModule = async (url: string) => void imported.push(basename(url));
  expect(await discoverTools({ folder, log: silentLog, importModule })).toEqual(['ant', 'zebra']);
  expect(imported).toEqual(['ant.js', 'zebra.ts']);
});

test('a module that fails to load is logged by name and the others load', async () => {
  const folder = await folderWith({ 'a.js': registers, 'b.js': registers, 'c.js': registers });
  const { log, lines } = recordingLog();
  const importModule = async (url: string) => {
    if (url.endsWith('b.js')) throw new Error('Cannot find package "left-pad"');
  };
  expect(await discoverTools({ folder, log, importModule })).toEqual(['a', 'c']);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/"module":"b".*left-pad/);
});

test('a module with a syntax error is logged and the others load', async () => {
  const folder = await folderWith({
    'a.mjs': `const = ;\n${registers}`,
    'b.mjs': 'globalThis.registry ??= { register() {} };\nregistry.register({});',
  });
  const { log, lines } = recordingLog();
  expect(await discoverTools({ folder, log })).toEqual(['b']);
  expect(lines).toHaveLength(1);
});

test('a warm start asks nobody, and a changed file is examined again', async () => {
  const folder = await folderWith({ 'a.ts': registers, 'b.ts': 'export {};' });
  const cacheFile = join(folder, 'home', 'cache', 'tool_discovery_cache.json');
  const registersTool = vi.fn(async (_path: string, source: string) => source === registers);
  const discover = () =>
    discoverTools({ folder, cacheFile, log: silentLog, registersTool, importModule: async () => undefined });
  expect(await discover()).toEqual(['a']);
  expect(registersTool).toHaveBeenCalledTimes(2);
  expect((await stat(cacheFile)).mode & 0o777).toBe(0o600);

  expect(await discover()).toEqual(['a']);
  expect(registersTool).toHaveBeenCalledTimes(2);

  await writeFile(join(folder, 'b.ts'), registers);
  await utimes(join(folder, 'b.ts'), new Date(), new Date(Date.now() + 5_000));
  expect(await discover()).toEqual(['a', 'b']);
  expect(registersTool).toHaveBeenCalledTimes(3);
});

test('a damaged cache is worked out again', async () => {
  const folder = await folderWith({ 'a.ts': registers, 'cache.json': '{"half":' });
  const cacheFile = join(folder, 'cache.json');
  const options = { folder, cacheFile, log: silentLog, importModule: async () => undefined };
  expect(await discoverTools(options)).toEqual(['a']);
  expect(Object.keys(JSON.parse(await readFile(cacheFile, 'utf8')))).toEqual([join(folder, 'a.ts')]);
});

test('the built-in tools register themselves, and a warm start does not load the parser', async () => {
  const cache = join(await mkdtemp(join(tmpdir(), 'hermes-discover-')), 'cache.json');
  const root = join(import.meta.dirname, '../../..');
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    const { discoverTools } = await import('${root}/tools/discover.ts');
    const { registry } = await import('${root}/tools/registry.ts');
    const { silentLog } = await import('${root}/src/log.ts');
    await discoverTools({ folder: '${root}/tools', cacheFile: '${cache}', log: silentLog });
    console.log(JSON.stringify({ names: registry.names(), parser: loaded.some((url) => url.includes('oxc-parser')) }));
  `;
  const start = async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    return JSON.parse(stdout);
  };
  const cold = await start();
  expect(cold.parser).toBe(true);
  expect(cold.names).toEqual(
    expect.arrayContaining([
      'clarify',
      'memory',
      'patch',
      'read_file',
      'search_files',
      'session_search',
      'todo',
      'write_file',
    ]),
  );
  expect(await start()).toEqual({ names: cold.names, parser: false });
});
