import { legacyToolsets } from './legacy.ts';
import { toolsets as builtIn, coreTools, presets, type Toolset } from './toolsets.ts';

/** What the registered tools add to the static toolsets. */
export interface RegistryFacts {
  /** Grows with every change. */
  readonly generation: number;
  toolsets(): readonly string[];
  toolsOf(toolset: string): readonly string[];
  aliasTarget(alias: string): string | undefined;
}

export interface ToolsetInfo {
  name: string;
  description: string;
}

export interface Toolsets {
  /** The tools of a toolset with its includes, sorted; empty for an unknown name. Legacy names are not toolsets. */
  resolveToolset(name: string, options?: { includeRegistry?: boolean }): readonly string[];
  validateToolset(name: string): boolean;
  /** Adds a toolset at run time, or replaces one that was added so. */
  createCustomToolset(
    name: string,
    description: string,
    tools: readonly string[],
    includes?: readonly string[],
  ): void;
  /** Like `resolveToolset`, legacy names too; null for a name that nobody knows. */
  expand(name: string): readonly string[] | null;
  /** What disabling a name takes away: a bundle loses what it adds to the core list, never the core itself. */
  expandDisabled(name: string): readonly string[] | null;
  /** Every toolset that can be named, sorted. */
  list(): readonly ToolsetInfo[];
  /** Toolsets known only to the registry: of plugins and MCP servers. */
  registryOnly(): readonly string[];
}

export interface ToolsetOptions {
  registry: RegistryFacts;
  /** Platforms that plugins add: `hermes-<platform>` is then the core list and the platform's own tools. */
  pluginPlatforms?: () => readonly string[];
}

const everything: ReadonlySet<string> = new Set(['all', '*']);
const maxMemoEntries = 256;

export function createToolsets({ registry, pluginPlatforms = () => [] }: ToolsetOptions): Toolsets {
  const custom = new Map<string, Toolset>();
  const memo = new Map<string, readonly string[]>();

  const definitionOf = (name: string): Toolset | undefined =>
    custom.get(name) ?? (Object.hasOwn(builtIn, name) ? builtIn[name] : undefined);
  const staticNames = () => [...new Set([...Object.keys(builtIn), ...custom.keys()])];
  const registryOnly = () => registry.toolsets().filter((name) => definitionOf(name) === undefined);
  const pluginPlatformOf = (name: string) =>
    pluginPlatforms().find((platform) => name === `hermes-${platform}`);

  const validateToolset = (name: string): boolean =>
    everything.has(name) ||
    definitionOf(name) !== undefined ||
    registry.toolsOf(name).length > 0 ||
    registry.aliasTarget(name) !== undefined ||
    pluginPlatformOf(name) !== undefined;

  function collect(name: string, includeRegistry: boolean, visited: Set<string>): readonly string[] {
    if (visited.has(name)) return []; // A cycle or a diamond: it was counted where it came first.
    visited.add(name);
    if (everything.has(name)) {
      const names = [...staticNames(), ...(includeRegistry ? registryOnly() : [])];
      return names.flatMap((each) => collect(each, includeRegistry, visited));
    }
    const definition = definitionOf(name);
    const platform = definition ? undefined : pluginPlatformOf(name);
    const target = registry.aliasTarget(name);
    return [
      ...(definition?.tools ?? []),
      ...(definition?.includes ?? []).flatMap((each) => collect(each, includeRegistry, visited)),
      ...(platform === undefined ? [] : [...coreTools, ...registry.toolsOf(platform)]),
      ...(includeRegistry ? registry.toolsOf(name) : []),
      ...(includeRegistry && target !== undefined ? registry.toolsOf(target) : []),
    ];
  }

  function resolveToolset(name: string, { includeRegistry = true } = {}): readonly string[] {
    const key = `${name}\n${includeRegistry}\n${registry.generation}`;
    const known = memo.get(key);
    if (known) return known;
    const resolved = Object.freeze([...new Set(collect(name, includeRegistry, new Set()))].sort());
    if (memo.size >= maxMemoEntries) memo.clear();
    // Which platforms plugins add is not part of the key.
    if (pluginPlatformOf(name) === undefined) memo.set(key, resolved);
    return resolved;
  }

  function expand(name: string): readonly string[] | null {
    if (validateToolset(name)) return resolveToolset(name);
    return Object.hasOwn(legacyToolsets, name) ? (legacyToolsets[name] ?? null) : null;
  }

  return {
    resolveToolset,
    validateToolset,
    createCustomToolset(name, description, tools, includes = []) {
      if (Object.hasOwn(builtIn, name) || everything.has(name)) {
        throw new Error(`"${name}" is a built-in toolset. Choose another name.`);
      }
      custom.set(name, { description, tools: [...tools], includes: [...includes] });
      memo.clear();
    },
    expand,
    expandDisabled(name) {
      const tools = expand(name);
      const isBundle = Object.hasOwn(presets, name) || pluginPlatformOf(name) !== undefined;
      return tools && isBundle ? tools.filter((tool) => !coreTools.includes(tool)) : tools;
    },
    list: () =>
      [...staticNames(), ...registryOnly()].sort().map((name) => ({
        name,
        description: definitionOf(name)?.description ?? generatedDescription(name),
      })),
    registryOnly,
  };
}

const generatedDescription = (name: string): string =>
  name.startsWith('mcp-') ? `MCP server '${name.slice('mcp-'.length)}' tools` : 'Plugin toolset';
