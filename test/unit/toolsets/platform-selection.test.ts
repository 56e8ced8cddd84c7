import { expect, test } from 'vitest';
import { selectToolsets } from '../../../toolsets/platform-selection.ts';
import { createToolsets } from '../../../toolsets/resolve.ts';

const toolsets = createToolsets({
  registry: {
    generation: 1,
    toolsets: () => ['mcp-github', 'mcp-files', 'weather'],
    toolsOf: (name) =>
      ({ 'mcp-github': ['mcp_github_pr'], 'mcp-files': ['mcp_files_ls'], weather: ['forecast'] })[name] ?? [],
    aliasTarget: (alias) => ({ github: 'mcp-github', files: 'mcp-files' })[alias],
  },
});
const mcpServers = ['github', 'files'];
const select = (input: Partial<Parameters<typeof selectToolsets>[1]> = {}) =>
  selectToolsets(toolsets, { platform: 'telegram', mcpServers, ...input });
const listed = (...entries: string[]) => select({ platformToolsets: { telegram: entries } });

test('without a list a platform gets its preset, the plugins and the MCP servers', () => {
  const { source, enabled, tools } = select();
  expect(source).toBe('preset');
  expect(enabled).toEqual(['hermes-telegram', 'weather', 'mcp-github', 'mcp-files']);
  expect(tools).toEqual(expect.arrayContaining(['terminal', 'forecast', 'mcp_github_pr', 'mcp_files_ls']));
});

test('the command line wins over the config, which wins over the environment', () => {
  const all = { cli: ['todo'], platformToolsets: { telegram: ['memory'] }, env: 'clarify' };
  expect(select(all)).toMatchObject({ source: 'cli', enabled: expect.arrayContaining(['todo']) });
  expect(select({ ...all, cli: [] })).toMatchObject({
    source: 'config',
    enabled: expect.arrayContaining(['memory']),
  });
  expect(select({ env: ' clarify , file ' })).toMatchObject({
    source: 'env',
    enabled: ['clarify', 'file', 'weather', 'mcp-github', 'mcp-files'],
  });
  expect(select({ platformToolsets: { slack: ['memory'] }, env: '' }).source).toBe('preset');
});

test('a list chooses among the built-in toolsets and keeps plugins and MCP servers', () => {
  expect(listed('file').tools).toEqual([
    'forecast',
    'mcp_files_ls',
    'mcp_github_pr',
    'patch',
    'read_file',
    'search_files',
    'write_file',
  ]);
});

test('a minus takes away; a list of only these starts from the preset', () => {
  const { tools } = listed('-browser', '-github');
  expect(tools).toContain('terminal');
  expect(tools).not.toContain('browser_click');
  expect(tools).not.toContain('mcp_github_pr');
  expect(select({ env: 'file,-patch,-file_tools' }).tools).toEqual([
    'forecast',
    'mcp_files_ls',
    'mcp_github_pr',
  ]);
});

test('naming servers makes the list an allowlist of servers', () => {
  expect(listed('todo', 'github').tools).toEqual(['forecast', 'mcp_github_pr', 'todo']);
  expect(listed('todo', 'mcp-files').tools).toEqual(['forecast', 'mcp_files_ls', 'todo']);
});

test('no_mcp removes every server', () => {
  expect(listed('todo', 'no_mcp').tools).toEqual(['forecast', 'todo']);
  expect(listed('no_mcp').tools).toContain('terminal');
});

test('what is disabled is taken away last, plugins and servers too', () => {
  const { tools } = select({
    platformToolsets: { telegram: ['todo', 'terminal', 'github'] },
    disabledToolsets: ['terminal', 'github', 'weather'],
  });
  expect(tools).toEqual(['todo']);
});

test('disabling a bundle leaves the core', () => {
  expect(select({ disabledToolsets: ['hermes-discord'] }).tools).toContain('terminal');
});

test('toolsets that are off by default are on only when they are named', () => {
  expect(select({ platform: 'discord' }).tools).not.toContain('discord_admin');
  expect(select({ platform: 'discord' }).tools).toContain('discord');
  expect(select({ platform: 'discord', env: 'hermes-discord,discord_admin' }).tools).toContain(
    'discord_admin',
  );
  expect(listed('all').tools).toContain('rl_list_runs');
});

test('webhooks, whose payloads are untrusted, get no plugin and no server by themselves', () => {
  expect(select({ platform: 'webhook' }).tools).toEqual([
    'clarify',
    'vision_analyze',
    'web_extract',
    'web_search',
  ]);
  expect(select({ platform: 'webhook', env: 'hermes-webhook,github' }).tools).toContain('mcp_github_pr');
});

test('entries that name nothing are reported', () => {
  expect(select({ env: 'todo,tood,-wbe,no_mcp', disabledToolsets: ['x'] }).unknown).toEqual([
    'tood',
    'wbe',
    'x',
  ]);
});

test('a platform without a preset gets the core, and an underscore is a hyphen', () => {
  expect(select({ platform: 'unheard-of' }).tools).toEqual(select().tools);
  expect(select({ platform: 'api_server' }).tools).not.toContain('clarify');
});
