import { expect, test } from 'vitest';
import { createToolsets } from '../../../toolsets/resolve.ts';
import { toolsets as builtIn, coreTools, presets } from '../../../toolsets/toolsets.ts';

const facts = (tools: Record<string, string[]> = {}, aliases: Record<string, string> = {}) => ({
  generation: 1,
  toolsets: () => Object.keys(tools),
  toolsOf: (name: string) => (Object.hasOwn(tools, name) ? (tools[name] ?? []) : []),
  aliasTarget: (alias: string) => (Object.hasOwn(aliases, alias) ? aliases[alias] : undefined),
});

const toolsets = createToolsets({ registry: facts() });

test('a toolset resolves to its own tools and those that it includes, sorted and each once', () => {
  expect(toolsets.resolveToolset('debugging')).toEqual([
    'patch',
    'process',
    'read_file',
    'search_files',
    'terminal',
    'web_extract',
    'web_search',
    'write_file',
  ]);
});

test('a cycle and a diamond end', () => {
  const own = createToolsets({ registry: facts() });
  own.createCustomToolset('a', 'A', ['one'], ['b', 'c']);
  own.createCustomToolset('b', 'B', ['two'], ['a', 'd']);
  own.createCustomToolset('c', 'C', [], ['d', 'a']);
  own.createCustomToolset('d', 'D', ['three'], ['d']);
  expect(own.resolveToolset('a')).toEqual(['one', 'three', 'two']);
});

test('"all" and "*" are the union of every toolset, those of the registry too', () => {
  const own = createToolsets({ registry: facts({ 'mcp-x': ['mcp_x_tool'] }) });
  const union = new Set([
    ...Object.keys(builtIn).flatMap((name) => toolsets.resolveToolset(name)),
    'mcp_x_tool',
  ]);
  expect(own.resolveToolset('all')).toEqual([...union].sort());
  expect(own.resolveToolset('*')).toEqual(own.resolveToolset('all'));
  expect(own.resolveToolset('all', { includeRegistry: false })).not.toContain('mcp_x_tool');
});

test('a legacy name expands to its tools and is no toolset', () => {
  expect(toolsets.expand('terminal_tools')).toEqual(['terminal']);
  expect(toolsets.resolveToolset('terminal_tools')).toEqual([]);
  expect(toolsets.validateToolset('terminal_tools')).toBe(false);
});

test('tools registered under a static toolset, or under the target of an alias, join it', () => {
  const own = createToolsets({
    registry: facts({ todo: ['todo', 'todo_share'], 'mcp-web': ['mcp_web_x'] }, { web: 'mcp-web' }),
  });
  expect(own.resolveToolset('todo')).toEqual(['todo', 'todo_share']);
  expect(own.resolveToolset('web')).toEqual(['mcp_web_x', 'web_extract', 'web_search']);
});

test('a toolset that only the registry knows is valid and described', () => {
  const own = createToolsets({ registry: facts({ 'mcp-x': ['mcp_x_a'], plug: ['p'] }, { x: 'mcp-x' }) });
  expect(own.resolveToolset('x')).toEqual(['mcp_x_a']);
  expect([own.validateToolset('mcp-x'), own.validateToolset('x'), own.validateToolset('plug')]).toEqual([
    true,
    true,
    true,
  ]);
  const described = new Map(own.list().map(({ name, description }) => [name, description]));
  expect(described.get('mcp-x')).toBe("MCP server 'x' tools");
  expect(described.get('plug')).toBe('Plugin toolset');
});

test('the preset of a plugin’s platform is the core list and the platform’s tools', () => {
  const own = createToolsets({ registry: facts({ irc: ['irc_topic'] }), pluginPlatforms: () => ['irc'] });
  expect(own.resolveToolset('hermes-irc')).toEqual([...coreTools, 'irc_topic'].sort());
  expect(own.expandDisabled('hermes-irc')).toEqual(['irc_topic']);
  expect(own.validateToolset('hermes-icq')).toBe(false);
});

test('an unknown name resolves to nothing, object keys too', () => {
  for (const name of ['nope', 'constructor', '__proto__', 'toString', '']) {
    expect(toolsets.resolveToolset(name)).toEqual([]);
    expect(toolsets.expand(name)).toBeNull();
  }
});

test('a built-in toolset cannot be replaced', () => {
  expect(() => toolsets.createCustomToolset('web', 'mine', ['evil'])).toThrow(/built-in/);
});

test('a change of the registry shows', () => {
  const changing = {
    ...facts(),
    generation: 1,
    toolsOf: (name: string) => (name === 'todo' && changing.generation > 1 ? ['late'] : []),
  };
  const own = createToolsets({ registry: changing });
  expect(own.resolveToolset('todo')).toEqual(['todo']);
  changing.generation = 2;
  expect(own.resolveToolset('todo')).toEqual(['late', 'todo']);
});

test('every include names a toolset, and every toolset says what it is for', () => {
  for (const { description, includes } of Object.values(builtIn)) {
    expect(description).not.toBe('');
    for (const name of includes) expect(Object.hasOwn(builtIn, name)).toBe(true);
  }
});

test('the presets hold what the specification says', () => {
  const tools = (name: string) => toolsets.resolveToolset(name);
  const core = [...coreTools].sort();
  for (const name of ['hermes-cli', 'hermes-cron', 'hermes-telegram', 'hermes-slack', 'hermes-web'])
    expect(tools(name)).toEqual(core);
  expect(tools('hermes-discord')).toEqual([...core, 'discord', 'discord_admin'].sort());
  expect(tools('hermes-webhook')).toEqual(['clarify', 'vision_analyze', 'web_extract', 'web_search']);
  expect(tools('hermes-api-server')).not.toContain('clarify');
  expect(tools('hermes-acp')).not.toContain('clarify');
  expect(tools('hermes-gateway')).toEqual(expect.arrayContaining([...core, 'discord', 'yb_send_dm']));
  expect(Object.keys(presets)).toContain('coding');
});
