import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../../src/log.ts';
import { handleFunctionCall } from '../../../tools/dispatch.ts';
import { createRegistry, registry as sharedRegistry } from '../../../tools/registry.ts';
import {
  defaultResultLimits,
  limitsForWindow,
  limitTurnResults,
  spillResult,
} from '../../../tools/result-limits.ts';
import '../../../tools/read-file.ts';
import { createWorkbench, fields, type Workbench } from './support/context.ts';

const optionsOf = ({ home, environment }: Workbench) => ({
  home,
  environment: async () => environment,
  log: silentLog,
});
const call = (result: string, name = 'terminal', toolCallId = 'call-1') => ({ name, toolCallId, result });
const pathIn = (block: string): string => /saved in full at: (\S+)/.exec(block)?.[1] ?? 'no path';

test('a result of 250,000 characters is spilled, and reading it back is not spilled again', async () => {
  const bench = await createWorkbench();
  const text = Array.from({ length: 5_000 }, (_, index) => `${index} ${'x'.repeat(44)}`).join('\n');
  const block = await spillResult(call(text), optionsOf(bench));
  expect(block.length).toBeLessThan(2_500);
  expect(block).toMatch(/^<persisted-output>\n[\s\S]*\n<\/persisted-output>$/);
  expect(block).toContain(`${text.length} characters`);
  const path = pathIn(block);
  expect(await readFile(path, 'utf8')).toBe(text);
  expect((await stat(path)).mode & 0o777).toBe(0o600);

  const read = await handleFunctionCall('read_file', { path, limit: 1_500 }, bench.context(), {
    registry: sharedRegistry,
  });
  expect(fields(read)).toMatchObject({ total_lines: 5_000, truncated: true });
  if (typeof read !== 'string') throw new Error('read_file gives text');
  expect(
    await spillResult(call(read, 'read_file'), {
      ...optionsOf(bench),
      limits: { ...defaultResultLimits, result: 10 },
    }),
  ).toBe(read);
});

test('a result within its budget is left alone', async () => {
  const bench = await createWorkbench();
  const text = 'x'.repeat(100_000);
  expect(await spillResult(call(text), optionsOf(bench))).toBe(text);
});

test('the budget is the config’s, then MCP’s, then the tool’s own, then the default', async () => {
  const registry = createRegistry({ log: silentLog });
  registry.register({
    name: 'small',
    toolset: 'test',
    schema: { description: 'x', parameters: null },
    handler: () => '',
    maxResultSizeChars: 5_000,
  });
  const options = {
    ...optionsOf(await createWorkbench()),
    registry,
    limits: { ...defaultResultLimits, perTool: { pinned: 10_000 } },
  };
  const spilled = async (name: string, chars: number) =>
    (await spillResult(call('x'.repeat(chars), name), options)).startsWith('<persisted');
  expect([await spilled('pinned', 10_000), await spilled('pinned', 10_001)]).toEqual([false, true]);
  expect([await spilled('mcp_x_y', 50_000), await spilled('mcp_x_y', 50_001)]).toEqual([false, true]);
  expect([await spilled('small', 5_000), await spilled('small', 5_001)]).toEqual([false, true]);
  const inSmallWindow = { ...options, limits: limitsForWindow(1_000) };
  registry.register({
    name: 'large',
    toolset: 'test',
    schema: { description: 'x', parameters: null },
    handler: () => '',
    maxResultSizeChars: 150_000,
  });
  expect([await spilled('large', 150_000), await spilled('large', 150_001)]).toEqual([false, true]);
  expect(await spillResult(call('x'.repeat(8_001), 'large'), inSmallWindow)).toContain('<persisted-output>');
  expect([await spilled('other', 100_000), await spilled('other', 100_001)]).toEqual([false, true]);
});

test('a hostile call id cannot leave the folder, and altered ids stay apart', async () => {
  const bench = await createWorkbench();
  const long = 'x'.repeat(200_000);
  const first = pathIn(await spillResult(call(long, 'terminal', '../../etc/x'), optionsOf(bench)));
  const second = pathIn(await spillResult(call(long, 'terminal', '../../etc?x'), optionsOf(bench)));
  for (const path of [first, second]) expect(dirname(path)).toBe(join(bench.home, 'cache', 'spillover'));
  expect(first).not.toBe(second);
});

test('what was spilled a day ago is removed', async () => {
  const bench = await createWorkbench();
  const folder = join(bench.home, 'cache', 'spillover');
  await mkdir(folder, { recursive: true });
  for (const [name, hours] of [
    ['old.txt', 25],
    ['young.txt', 23],
  ] as const) {
    await writeFile(join(folder, name), 'x');
    const then = new Date(Date.now() - hours * 3_600_000);
    await utimes(join(folder, name), then, then);
  }
  await spillResult(call('x'.repeat(200_000)), optionsOf(bench));
  expect((await readdir(folder)).sort()).toEqual(['call-1.txt', 'young.txt']);
});

test('in a sandbox the file is written inside of it', async () => {
  const written = new Map<string, number>();
  const bench = await createWorkbench();
  const environment = {
    ...bench.environment,
    backend: 'docker' as const,
    files: {
      ...bench.environment.files,
      write: async (path: string, data: Uint8Array) => void written.set(path, data.length),
      stat: async (path: string) => ({
        kind: 'file' as const,
        bytes: written.get(path) ?? -1,
        modifiedMs: 0,
        realPath: path,
      }),
    },
  };
  const block = await spillResult(call('x'.repeat(200_000)), {
    ...optionsOf(bench),
    environment: async () => environment,
  });
  expect([...written]).toEqual([['/tmp/hermes-spillover/call-1.txt', 200_000]]);
  expect(pathIn(block)).toBe('/tmp/hermes-spillover/call-1.txt');
});

test('where nothing can be written the result is cut and says that the rest is lost', async () => {
  const bench = await createWorkbench();
  const unreachable = () => Promise.reject(new Error('no sandbox'));
  const block = await spillResult(call('x'.repeat(200_000)), {
    ...optionsOf(bench),
    environment: unreachable,
  });
  expect(block).toContain('could not be saved');
  expect(block.length).toBeLessThan(10_000);
});

test('a turn above its budget spills its largest results first and keeps the order', async () => {
  const bench = await createWorkbench();
  const sizes = [30_000, 90_000, 20_000, 80_000];
  const calls = sizes.map((size, index) => call(String(index).repeat(size), 'terminal', `call-${index}`));
  const results = await limitTurnResults(calls, optionsOf(bench));
  expect(results.map((result) => result.startsWith('<persisted'))).toEqual([false, true, false, false]);
  expect(results.reduce((sum, result) => sum + result.length, 0)).toBeLessThanOrEqual(200_000);
});

test('a small window makes the budgets small, a large one does not make them larger', () => {
  expect(limitsForWindow(1_000)).toMatchObject({ result: 8_000, turn: 16_000, mcpResult: 8_000 });
  expect(limitsForWindow(64_000)).toMatchObject({ result: 38_400, turn: 76_800 });
  expect(limitsForWindow(1_000_000)).toEqual(defaultResultLimits);
});
