import type { Toolsets } from './resolve.ts';
import { closedPresets, offByDefault } from './toolsets.ts';

export interface SelectionInput {
  platform: string;
  /** `--toolsets` of the command line. */
  cli?: readonly string[];
  /** `platform_toolsets` of the config. */
  platformToolsets?: Readonly<Record<string, readonly string[]>>;
  /** The value of `HERMES_<PLATFORM>_TOOLSETS`. */
  env?: string | undefined;
  /** `agent.disabled_toolsets`: subtracted last, whatever else says otherwise. */
  disabledToolsets?: readonly string[];
  /** Names of the enabled MCP servers. */
  mcpServers?: readonly string[];
}

export interface Selection {
  enabled: string[];
  disabled: string[];
  /** The tools that remain, sorted. Which of them exist and are available is not decided here. */
  tools: string[];
  /** Where the list came from. */
  source: 'cli' | 'config' | 'env' | 'preset';
  /** Entries that name nothing. */
  unknown: string[];
}

/**
 * Which toolsets a platform's new sessions get. The first of these that gives a list decides: command line,
 * config, environment, the platform's preset. In a list, `-name` takes away; a list that only takes away starts
 * from the preset. A list chooses among the built-in toolsets: those of plugins stay, and MCP servers follow
 * their own `enabled` unless the list names servers (then only those) or `no_mcp`.
 */
export function selectToolsets(toolsets: Toolsets, input: SelectionInput): Selection {
  const { source, entries } = listOf(input);
  const preset = `hermes-${input.platform.replaceAll('_', '-')}`;
  const fallback = toolsets.validateToolset(preset) ? preset : 'hermes-cli';
  const servers = input.mcpServers ?? [];

  const subtracted = entries.filter((entry) => entry.startsWith('-')).map((entry) => entry.slice(1));
  const named = entries.filter((entry) => !entry.startsWith('-'));
  const namedServers = servers.filter((server) => named.includes(server) || named.includes(`mcp-${server}`));
  const chosen = named.filter((entry) => entry !== 'no_mcp' && !isServer(entry, servers));
  // A list that names only servers chooses no built-in toolset; one that names nothing starts from the preset.
  const base = chosen.length > 0 || namedServers.length > 0 ? chosen : [fallback];
  const added = base.every((name) => closedPresets.includes(name)) ? [] : extras(toolsets, named, servers);

  const enabled = unique([...base, ...namedServers.map((server) => `mcp-${server}`), ...added]);
  const namesAll = chosen.some((name) => name === 'all' || name === '*');
  const quietlyOff = namesAll ? [] : offByDefault.filter((name) => !chosen.includes(name));
  const disabled = unique([...quietlyOff, ...subtracted, ...(input.disabledToolsets ?? [])]);
  return {
    enabled,
    disabled,
    tools: toolsOf(toolsets, enabled, disabled),
    source,
    unknown: unknownOf(toolsets, input, entries),
  };
}

function listOf(input: SelectionInput): { source: Selection['source']; entries: readonly string[] } {
  const config = input.platformToolsets?.[input.platform];
  const env =
    input.env
      ?.split(',')
      .map((entry) => entry.trim())
      .filter(Boolean) ?? [];
  if (input.cli && input.cli.length > 0) return { source: 'cli', entries: input.cli };
  if (config) return { source: 'config', entries: config };
  return env.length > 0 ? { source: 'env', entries: env } : { source: 'preset', entries: [] };
}

/** What a list does not have to name: toolsets of plugins, and of MCP servers while the list names none. */
function extras(toolsets: Toolsets, named: readonly string[], servers: readonly string[]): readonly string[] {
  const plugins = toolsets.registryOnly().filter((name) => !name.startsWith('mcp-'));
  const choosesServers = named.includes('no_mcp') || named.some((entry) => isServer(entry, servers));
  return choosesServers ? plugins : [...plugins, ...servers.map((server) => `mcp-${server}`)];
}

const isServer = (entry: string, servers: readonly string[]): boolean =>
  servers.includes(entry.startsWith('mcp-') ? entry.slice('mcp-'.length) : entry);

function toolsOf(toolsets: Toolsets, enabled: readonly string[], disabled: readonly string[]): string[] {
  const tools = new Set(enabled.flatMap((name) => toolsets.expand(name) ?? []));
  for (const tool of disabled.flatMap((name) => toolsets.expandDisabled(name) ?? [])) tools.delete(tool);
  return [...tools].sort();
}

function unknownOf(toolsets: Toolsets, input: SelectionInput, entries: readonly string[]): string[] {
  const known = (name: string) =>
    name === 'no_mcp' || isServer(name, input.mcpServers ?? []) || toolsets.expand(name) !== null;
  return unique([
    ...entries.map((entry) => entry.replace(/^-/, '')),
    ...(input.disabledToolsets ?? []),
  ]).filter((name) => !known(name));
}

const unique = (names: readonly string[]): string[] => [...new Set(names)];
