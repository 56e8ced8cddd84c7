import type { Toolsets } from './resolve.ts';

export interface ToolsetDescription {
  name: string;
  /** What is offered now. */
  tools: string[];
  unavailable: UnavailableTool[];
}

export interface UnavailableTool {
  tool: string;
  reason: string;
  /** Environment variables that the tool asks for. */
  env: string[];
}

/** The part of the registry that tells whether tools can be offered; tools that do not exist are missing. */
export interface ToolChecks {
  checkTools(
    names: Iterable<string>,
  ): Promise<ReadonlyMap<string, { available: boolean; requiresEnv: readonly string[] }>>;
}

/** What a toolset resolves to; null for a name that nobody knows. */
export async function describeToolset(
  name: string,
  toolsets: Toolsets,
  registry: ToolChecks,
): Promise<ToolsetDescription | null> {
  const tools = toolsets.expand(name);
  return tools && describeTools(name, tools, registry);
}

/** The same for any list of tools, such as what `selectToolsets` gives for a platform. */
export async function describeTools(
  name: string,
  tools: readonly string[],
  registry: ToolChecks,
): Promise<ToolsetDescription> {
  const checks = await registry.checkTools(tools);
  const unavailable = tools.flatMap((tool): UnavailableTool[] => {
    const check = checks.get(tool);
    if (!check) return [{ tool, reason: 'not built in yet', env: [] }];
    if (check.available) return [];
    const env = [...check.requiresEnv];
    return [
      {
        tool,
        reason: env.length > 0 ? 'needs what env names, or it does not work' : 'its check fails here',
        env,
      },
    ];
  });
  const missing = new Set(unavailable.map((each) => each.tool));
  return { name, tools: tools.filter((tool) => !missing.has(tool)), unavailable };
}
