import { type Clock, systemClock } from '../src/clock.ts';
import type { Log } from '../src/log.ts';
import type { FunctionDefinition, Registry } from './registry.ts';
import { toProviderSchema } from './schema.ts';
import { patchDefinition } from './schema-patches.ts';

/** What this module needs to know of toolsets; `toolsets/resolve.ts` provides it. */
export interface ToolsetNames {
  /** The tools of a toolset, a legacy name, `all` or `*`; null for a name that is none of these. */
  expand(name: string): readonly string[] | null;
  /** What disabling a name takes away: of a bundle only what it adds to the core list. Null when unknown. */
  expandDisabled(name: string): readonly string[] | null;
}

export interface DefinitionOptions {
  /** Stands for everything outside the registry that changes what is offered: the config file's mtime and size, flags. */
  stamp?: string;
}

export type GetToolDefinitions = (
  enabled: readonly string[] | null,
  disabled: readonly string[] | null,
  quiet: boolean,
  options?: DefinitionOptions,
) => Promise<FunctionDefinition[]>;

export interface DefinitionSources {
  registry: Registry;
  toolsets: ToolsetNames;
  log: Log;
  clock?: Clock;
}

const memoEntries = 8;
/** A tool whose check changes its mind (a key was set, a server went away) shows within this time. */
const memoMs = 30_000;

/**
 * Makes `getToolDefinitions(enabled, disabled, quiet)`: what a session's model is offered. `enabled` null means
 * every toolset. Names that nobody knows are ignored, with a warning unless `quiet`. The caller owns the list that
 * it gets: quiet builds are remembered, and handed out as copies.
 */
export function createToolDefinitions(sources: DefinitionSources): GetToolDefinitions {
  const { registry } = sources;
  const clock = sources.clock ?? systemClock;
  const memo = new Map<string, { at: number; definitions: Promise<FunctionDefinition[]> }>();

  return async (enabled, disabled, quiet, { stamp = '' } = {}) => {
    const build = () => buildDefinitions(sources, enabled, disabled, quiet);
    if (!quiet) return build();
    const key = JSON.stringify([sorted(enabled), sorted(disabled), registry.generation, stamp]);
    let entry = memo.get(key);
    if (!entry || clock.now() - entry.at >= memoMs) {
      entry = { at: clock.now(), definitions: build() };
      memo.delete(key);
      memo.set(key, entry);
      const [oldest] = memo.keys();
      if (memo.size > memoEntries && oldest !== undefined) memo.delete(oldest);
    }
    try {
      return structuredClone(await entry.definitions);
    } catch (error) {
      memo.delete(key);
      throw error;
    }
  };
}

async function buildDefinitions(
  { registry, toolsets, log }: DefinitionSources,
  enabled: readonly string[] | null,
  disabled: readonly string[] | null,
  quiet: boolean,
): Promise<FunctionDefinition[]> {
  const collect = (names: readonly string[], expand: (name: string) => readonly string[] | null) =>
    names.flatMap((name) => {
      const tools = expand(name);
      if (tools === null && !quiet) log.warn({ toolset: name }, `"${name}" is no toolset and is ignored.`);
      return tools ?? [];
    });
  const wanted = new Set(collect(enabled ?? ['all'], (name) => toolsets.expand(name)));
  for (const tool of collect(disabled ?? [], (name) => toolsets.expandDisabled(name))) wanted.delete(tool);

  const definitions = await registry.getDefinitions(wanted, quiet);
  const offered = new Set(definitions.map((definition) => definition.function.name));
  return definitions.map((definition) => {
    const patched = patchDefinition(definition, offered);
    return {
      type: 'function',
      function: { ...patched.function, parameters: toProviderSchema(patched.function.parameters) },
    };
  });
}

const sorted = (names: readonly string[] | null): string[] | null => (names ? [...names].sort() : null);
