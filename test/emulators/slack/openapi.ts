import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const description = new URL('../../../../shared/api-specs/slack-web-openapi.json', import.meta.url);

const specShape = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        parameters: z
          .array(
            z.object({ name: z.string(), type: z.string().optional(), required: z.boolean().optional() }),
          )
          .optional(),
      }),
    ),
  ),
});

/** Arguments that Slack has added since the description was written (2021), by method. */
const newer: Readonly<Record<string, readonly string[]>> = {
  'chat.postMessage': ['metadata', 'markdown_text'],
  'chat.update': ['metadata', 'markdown_text', 'file_ids'],
  'chat.postEphemeral': ['markdown_text'],
  'conversations.history': ['include_all_metadata'],
  'conversations.replies': ['include_all_metadata'],
};

export interface DescriptionCheck {
  (method: string, args: Readonly<Record<string, string>>): string[];
  knows(method: string): boolean;
}

/**
 * Checks a call against Slack's published API description: unknown and missing arguments, and their types. Returns
 * the complaints. Without the file, or for a method that it does not know, there are none.
 */
export function loadDescriptionCheck(): DescriptionCheck {
  if (!existsSync(description)) return Object.assign(() => [], { knows: () => false });
  const spec = specShape.parse(JSON.parse(readFileSync(description, 'utf8')));
  const operationOf = (method: string) => Object.values(spec.paths[`/${method}`] ?? {})[0];
  const check = (method: string, args: Readonly<Record<string, string>>) => {
    const operation = operationOf(method);
    if (operation === undefined) return [];
    const known = new Map((operation.parameters ?? []).map((parameter) => [parameter.name, parameter]));
    const complaints: string[] = [];
    for (const [name, value] of Object.entries(args)) {
      const parameter = known.get(name);
      if (parameter === undefined) {
        if (!newer[method]?.includes(name)) complaints.push(`${method}: unknown argument ${name}`);
      } else if (!fitsType(value, parameter.type)) {
        complaints.push(`${method}: argument ${name} is not of type ${parameter.type}`);
      }
    }
    for (const parameter of known.values()) {
      if (parameter.required === true && parameter.name !== 'token' && args[parameter.name] === undefined) {
        complaints.push(`${method}: argument ${parameter.name} is missing`);
      }
    }
    return complaints;
  };
  return Object.assign(check, { knows: (method: string) => operationOf(method) !== undefined });
}

function fitsType(value: string, type: string | undefined): boolean {
  if (type === 'boolean') return value === 'true' || value === 'false';
  if (type === 'integer') return /^-?\d+$/.test(value);
  if (type === 'number') return value !== '' && Number.isFinite(Number(value));
  return true;
}
