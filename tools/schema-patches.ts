import type { FunctionDefinition } from './registry.ts';
import { isRecord } from './results.ts';

/** The functions that a script of `execute_code` may call, each only where its tool is in the session. */
export const sandboxFunctions = [
  'web_search',
  'web_extract',
  'read_file',
  'write_file',
  'search_files',
  'patch',
  'terminal',
] as const;

/** Tools whose description speaks of others, and which others: what is absent from the session is not spoken of. */
const spokenOf: Readonly<Record<string, readonly string[]>> = {
  execute_code: sandboxFunctions,
  browser_navigate: ['web_search', 'web_extract'],
};

/** Adapts a definition to the tools that are offered beside it. */
export function patchDefinition(
  definition: FunctionDefinition,
  offered: ReadonlySet<string>,
): FunctionDefinition {
  const { name } = definition.function;
  const absent = spokenOf[name]?.filter((tool) => !offered.has(tool)) ?? [];
  if (absent.length === 0) return definition;
  const { description, parameters } = definition.function;
  return {
    type: 'function',
    function: {
      name,
      description: withoutMentions(description, absent),
      parameters: isRecord(parameters) ? patchDescriptions(parameters, absent) : parameters,
    },
  };
}

function patchDescriptions(
  schema: Record<string, unknown>,
  absent: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === 'description' && typeof value === 'string') return [key, withoutMentions(value, absent)];
      return [key, isRecord(value) ? patchDescriptions(value, absent) : value];
    }),
  );
}

/** Drops the list items and the sentences that name an absent tool. */
export function withoutMentions(text: string, absent: readonly string[]): string {
  const mentions = (part: string) => absent.some((name) => mentionOf(name).test(part));
  return text
    .split('\n')
    .flatMap((line) => {
      if (!mentions(line)) return line;
      if (/^\s*(?:[-*•]\s|\s\S)/.test(line)) return [];
      const kept = line.split(/(?<=[.!?])\s+/).filter((sentence) => !mentions(sentence));
      return kept.length > 0 ? kept.join(' ') : [];
    })
    .join('\n');
}

/** `web_search` is a tool's name anywhere; `terminal` and `patch` are words, so only as code or as a call. */
function mentionOf(name: string): RegExp {
  return name.includes('_') ? new RegExp(`\\b${name}\\b`) : new RegExp(`\\b${name}\\(|\`${name}\``);
}
