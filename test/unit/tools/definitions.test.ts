import { expect, test } from 'vitest';
import { silentLog } from '../../../src/log.ts';
import { createToolDefinitions } from '../../../tools/definitions.ts';
import { createRegistry, type Registry } from '../../../tools/registry.ts';
import { createToolsets } from '../../../toolsets/resolve.ts';
import { recordingLog } from './support/log.ts';

const fileTools = ['patch', 'read_file', 'search_files', 'write_file'];

function setUp(tools: readonly string[], log = silentLog) {
  const registry = createRegistry({ log: silentLog });
  for (const name of tools) add(registry, name);
  let now = 0;
  const clock = { now: () => now, after: () => () => undefined };
  const definitions = createToolDefinitions({ registry, toolsets: createToolsets({ registry }), log, clock });
  const names = async (...args: Parameters<typeof definitions>) =>
    (await definitions(...args)).map((each) => each.function.name);
  return { registry, definitions, names, wait: (ms: number) => (now += ms) };
}

function add(registry: Registry, name: string, description = `Does ${name}`, toolset = 'test') {
  registry.register({ name, toolset, schema: { description, parameters: null }, handler: () => '{}' });
}

test('an enabled list is the union of its toolsets, sorted and each once', async () => {
  const { names } = setUp(['terminal', 'process', ...fileTools]);
  expect(await names(['file', 'debugging'], null, true)).toEqual([
    'patch',
    'process',
    'read_file',
    'search_files',
    'terminal',
    'write_file',
  ]);
});

test('without an enabled list every toolset counts, less the disabled ones', async () => {
  const { names } = setUp(['terminal', 'process', 'todo']);
  expect(await names(null, null, true)).toEqual(['process', 'terminal', 'todo']);
  expect(await names(null, ['terminal'], true)).toEqual(['todo']);
});

test('what is disabled is taken away from an enabled composite too', async () => {
  const { names } = setUp(['terminal', 'todo']);
  expect(await names(['hermes-telegram'], ['terminal'], true)).toEqual(['todo']);
});

test('disabling a bundle never takes the core away', async () => {
  const { names } = setUp(['terminal', 'todo', 'yb_send_dm']);
  expect(await names(['hermes-telegram', 'yuanbao'], ['hermes-yuanbao', 'coding'], true)).toEqual([
    'terminal',
    'todo',
  ]);
});

test('legacy names stand for their tools', async () => {
  const { names } = setUp(['terminal', 'process']);
  expect(await names(['terminal_tools'], null, true)).toEqual(['terminal']);
});

test('an unknown name is ignored, with a warning unless quiet', async () => {
  const { log, lines } = recordingLog();
  const { names } = setUp(['todo'], log);
  expect(await names(['todo', 'tood'], null, true)).toEqual(['todo']);
  expect(lines).toEqual([]);
  expect(await names(['todo', 'tood'], null, false)).toEqual(['todo']);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('tood');
});

test('changing what was returned changes nothing for the next caller', async () => {
  const { definitions } = setUp(['todo']);
  const first = await definitions(['todo'], null, true);
  const [only] = first;
  if (only) only.function.description = 'spoilt';
  first.push(...structuredClone(first));
  const second = await definitions(['todo'], null, true);
  expect(second.map((each) => each.function.description)).toEqual(['Does todo']);
});

test('registering a tool shows at once', async () => {
  const { registry, names } = setUp(['todo']);
  expect(await names(null, null, true)).toEqual(['todo']);
  add(registry, 'new_tool');
  expect(await names(null, null, true)).toEqual(['new_tool', 'todo']);
});

test('a quiet build is remembered for a while, whatever the order of the names', async () => {
  const { registry, definitions, wait } = setUp([]);
  let checks = 0;
  registry.register({
    name: 'todo',
    toolset: 'todo',
    schema: { description: 'x', parameters: null },
    handler: () => '',
    checkFn: () => {
      checks += 1;
      return true;
    },
  });
  await definitions(['todo', 'web'], null, true);
  await definitions(['web', 'todo'], null, true);
  expect(checks).toBe(1);
  await definitions(['web', 'todo'], null, true, { stamp: 'config changed' });
  expect(checks).toBe(2);
  wait(30_000);
  await definitions(['todo', 'web'], null, true);
  expect(checks).toBe(3);
  await definitions(['todo', 'web'], null, false);
  expect(checks).toBe(4);
});

test('at most eight builds are remembered', async () => {
  const { registry, definitions } = setUp([]);
  let checks = 0;
  registry.register({
    name: 'todo',
    toolset: 'todo',
    schema: { description: 'x', parameters: null },
    handler: () => '',
    checkFn: () => {
      checks += 1;
      return true;
    },
  });
  for (let stamp = 0; stamp < 9; stamp += 1)
    await definitions(['todo'], null, true, { stamp: String(stamp) });
  expect(checks).toBe(9);
  await definitions(['todo'], null, true, { stamp: '8' });
  expect(checks).toBe(9);
  await definitions(['todo'], null, true, { stamp: '0' });
  expect(checks).toBe(10);
});

const scriptText = [
  'Runs a script. It may call these functions:',
  '- web_search(query): search. Gives five results.',
  '- terminal(command): run a command.',
  '- read_file(path): read.',
  'Prefer web_extract for long pages. Print what you need.',
].join('\n');

test('execute_code speaks only of the functions that the session has', async () => {
  const { registry, definitions } = setUp(['terminal', 'read_file']);
  add(registry, 'execute_code', scriptText);
  const found = (await definitions(null, null, true)).find((each) => each.function.name === 'execute_code');
  expect(found?.function.description).toBe(
    [
      'Runs a script. It may call these functions:',
      '- terminal(command): run a command.',
      '- read_file(path): read.',
      'Print what you need.',
    ].join('\n'),
  );
});

test('browser_navigate speaks of web_search only beside it', async () => {
  const { registry, definitions } = setUp([]);
  add(
    registry,
    'browser_navigate',
    'Opens a page. For plain reading prefer web_search or web_extract. Then take a snapshot.',
  );
  const text = async () =>
    (await definitions(null, null, true)).find((each) => each.function.name === 'browser_navigate')?.function
      .description;
  expect(await text()).toBe('Opens a page. Then take a snapshot.');
  add(registry, 'web_search');
  add(registry, 'web_extract');
  expect(await text()).toContain('prefer web_search or web_extract');
});

test('a schema is given as the strictest provider takes it', async () => {
  const { registry, definitions } = setUp([]);
  registry.register({
    name: 'odd',
    toolset: 'test',
    schema: {
      description: 'Odd',
      parameters: {
        $schema: 'x',
        type: 'object',
        properties: {
          empty: { type: 'object' },
          maybe: { type: ['string', 'null'] },
          either: { anyOf: [{ type: 'integer' }, { type: 'null' }], description: 'kept' },
          list: { type: 'array' },
        },
        required: ['maybe', 'gone'],
      },
    },
    handler: () => '',
  });
  add(registry, 'bare');
  const [bare, odd] = await definitions(null, null, true);
  expect(bare?.function.parameters).toEqual({ type: 'object', properties: {} });
  expect(odd?.function.parameters).toEqual({
    type: 'object',
    properties: {
      empty: { type: 'object', properties: {} },
      maybe: { type: 'string' },
      either: { type: 'integer', description: 'kept' },
      list: { type: 'array', items: {} },
    },
    required: ['maybe'],
  });
});
