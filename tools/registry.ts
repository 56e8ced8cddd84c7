import type { z } from 'zod';
import { errorMessage } from '../src/errors.ts';
import { createLog, type Log } from '../src/log.ts';
import { createAvailability } from './availability.ts';
import { checkedResult, failureResult } from './handler-result.ts';
import { toolError } from './results.ts';
import type { JsonToolOptions, ToolContext, ToolResult, ToolSchema, ZodToolOptions } from './tool.ts';
import { createToolRecord, type RawArgs, type ToolRecord } from './tool-record.ts';

export interface FunctionDefinition {
  type: 'function';
  function: { name: string; description: string; parameters: Record<string, unknown> | null };
}

export interface RegistryOptions {
  log: Log;
  /** Rejects a name that another toolset already holds, instead of warning (`tools.strict_collisions`). */
  strictCollisions?: boolean;
}

export interface Registry {
  /** Grows with every change of tools or aliases; a memo that depends on the registry has it in its key. */
  readonly generation: number;
  configure(options: Partial<RegistryOptions>): void;
  register<Shape extends z.ZodType>(options: ZodToolOptions<Shape>): void;
  register(options: JsonToolOptions): void;
  /** An unknown name is fine: nothing happens. */
  deregister(name: string): void;
  registerToolsetAlias(alias: string, toolset: string): void;
  /** The toolset that an alias stands for, such as `mcp-github` for `github`. */
  aliasTarget(alias: string): string | undefined;
  get(name: string): ToolRecord | undefined;
  /** Sorted. */
  names(): string[];
  /** Every toolset that holds a tool, sorted. */
  toolsets(): string[];
  /** Names of the tools registered under a toolset, sorted; no alias is followed. */
  toolsOf(toolset: string): string[];
  /** What the model is offered of `names`: sorted, without unknown tools and those whose check fails. */
  getDefinitions(names: Iterable<string>, quiet?: boolean): Promise<FunctionDefinition[]>;
  /** Runs the handler. Never rejects: every failure is a result for the model. */
  dispatch(name: string, args: RawArgs, context: ToolContext): Promise<ToolResult>;
  /** Whether each of the known tools among `names` can be offered, checks shared as in one build. */
  checkTools(names: Iterable<string>): Promise<Map<string, ToolStatus>>;
  /** Whether at least one tool of the toolset can be offered; an unknown toolset is not available. */
  isToolsetAvailable(toolset: string): Promise<boolean>;
  checkToolAvailability(): Promise<ToolAvailability>;
  getAvailableToolsets(): Promise<Record<string, ToolsetStatus>>;
  checkToolsetRequirements(): Promise<Record<string, boolean>>;
}

export interface ToolStatus {
  available: boolean;
  /** Names of environment variables. */
  requiresEnv: readonly string[];
}

export interface ToolAvailability {
  available: string[];
  unavailable: { name: string; env_vars: string[]; tools: string[] }[];
}

export interface ToolsetStatus {
  available: boolean;
  tools: string[];
  description: string;
  /** Names of environment variables. */
  requirements: string[];
}

/** Holds the tools by name and runs them. Each tool file registers itself with the shared `registry` below. */
export function createRegistry(initial: RegistryOptions): Registry {
  const options: RegistryOptions = { ...initial };
  const records = new Map<string, ToolRecord>();
  const aliases = new Map<string, string>();
  let generation = 0;

  const toolsOf = (toolset: string): string[] =>
    [...records.values()]
      .filter((record) => record.toolset === toolset)
      .map((record) => record.name)
      .sort();
  const toolsets = (): string[] => [...new Set([...records.values()].map((record) => record.toolset))].sort();

  function add(record: ToolRecord): void {
    const previous = records.get(record.name);
    if (previous && !mayReplace(previous, record)) {
      const clash = `Tool "${record.name}" of toolset "${record.toolset}" has the name of one of "${previous.toolset}"`;
      if (options.strictCollisions) {
        throw new Error(`${clash}: rejected. Rename it, or set tools.strict_collisions to false.`);
      }
      options.log.warn({ tool: record.name, toolset: record.toolset }, `${clash}: the later one is used.`);
    }
    records.set(record.name, record);
    generation += 1;
  }

  async function checkTools(names: Iterable<string>): Promise<Map<string, ToolStatus>> {
    const availability = createAvailability(options.log, true);
    const checks = [...names]
      .flatMap((name) => records.get(name) ?? [])
      .map(async (record) => {
        const available = await availability.isAvailable(record);
        return [record.name, { available, requiresEnv: record.requiresEnv }] as const;
      });
    return new Map(await Promise.all(checks));
  }

  async function getAvailableToolsets(): Promise<Record<string, ToolsetStatus>> {
    const statuses = await checkTools(records.keys());
    return Object.fromEntries(
      toolsets().map((toolset) => {
        const tools = toolsOf(toolset);
        const available = tools.some((name) => statuses.get(name)?.available);
        const requirements = [
          ...new Set(tools.flatMap((name) => statuses.get(name)?.requiresEnv ?? [])),
        ].sort();
        const [only] = tools;
        const description =
          tools.length === 1 && only !== undefined
            ? (records.get(only)?.description ?? '')
            : `${tools.length} tools`;
        return [toolset, { available, tools, description, requirements }];
      }),
    );
  }

  return {
    get generation() {
      return generation;
    },
    configure(changes) {
      Object.assign(options, changes);
    },
    register<Shape extends z.ZodType>(tool: ZodToolOptions<Shape> | JsonToolOptions) {
      add(createToolRecord(tool));
    },
    deregister(name) {
      const record = records.get(name);
      if (!record) return;
      records.delete(name);
      if (toolsOf(record.toolset).length === 0) {
        for (const [alias, target] of aliases) if (target === record.toolset) aliases.delete(alias);
      }
      generation += 1;
    },
    registerToolsetAlias(alias, toolset) {
      const previous = aliases.get(alias);
      if (previous !== undefined && previous !== toolset) {
        options.log.warn({ alias, toolset, previous }, 'A toolset alias now points elsewhere.');
      }
      aliases.set(alias, toolset);
      generation += 1;
    },
    aliasTarget: (alias) => aliases.get(alias),
    get: (name) => records.get(name),
    names: () => [...records.keys()].sort(),
    toolsets,
    toolsOf,
    async getDefinitions(names, quiet = false) {
      const known = [...new Set(names)].sort().flatMap((name) => records.get(name) ?? []);
      const availability = createAvailability(options.log, quiet);
      const offered = await Promise.all(known.map((record) => availability.isAvailable(record)));
      return known.filter((_, index) => offered[index]).map((record) => definitionOf(record, options.log));
    },
    async dispatch(name, args, context) {
      const record = records.get(name);
      if (!record) return toolError(`Unknown tool: ${name}`);
      try {
        return checkedResult(name, await record.handle(args, context));
      } catch (error) {
        return failureResult(error);
      }
    },
    checkTools,
    async isToolsetAvailable(toolset) {
      const statuses = await checkTools(toolsOf(toolset));
      return [...statuses.values()].some((status) => status.available);
    },
    getAvailableToolsets,
    async checkToolAvailability() {
      const statuses = Object.entries(await getAvailableToolsets());
      return {
        available: statuses.filter(([, status]) => status.available).map(([name]) => name),
        unavailable: statuses
          .filter(([, status]) => !status.available)
          .map(([name, status]) => ({ name, env_vars: status.requirements, tools: status.tools })),
      };
    },
    async checkToolsetRequirements() {
      const statuses = Object.entries(await getAvailableToolsets());
      return Object.fromEntries(statuses.map(([name, status]) => [name, status.available]));
    },
  };
}

/** A refresh of the same toolset, or one MCP server over another, is no collision. */
function mayReplace(previous: ToolRecord, next: ToolRecord): boolean {
  const bothMcp = previous.toolset.startsWith('mcp-') && next.toolset.startsWith('mcp-');
  return previous.toolset === next.toolset || bothMcp;
}

function definitionOf(record: ToolRecord, log: Log): FunctionDefinition {
  const { description, parameters } = { ...record.schema, ...dynamicSchema(record, log) };
  return {
    type: 'function',
    function: { name: record.name, description, parameters: parameters && { ...parameters } },
  };
}

function dynamicSchema(record: ToolRecord, log: Log): Partial<ToolSchema> {
  try {
    return record.dynamicSchemaOverrides?.() ?? {};
  } catch (error) {
    log.warn(
      { tool: record.name, error: errorMessage(error) },
      'A dynamic schema failed; the static one is used.',
    );
    return {};
  }
}

/** The process-wide registry that tool files register with. The gateway gives it its log before discovery. */
export const registry: Registry = createRegistry({ log: createLog('warn') });
