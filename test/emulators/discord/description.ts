import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { createValidator, type Schema, schemaShape } from './json-schema.ts';

const description = new URL('../../../../shared/api-specs/discord-openapi.json', import.meta.url);

const parameters = z
  .array(z.object({ name: z.string(), in: z.string(), schema: schemaShape.optional() }))
  .optional();
const operation = z.object({
  parameters,
  requestBody: z
    .object({ content: z.record(z.string(), z.object({ schema: schemaShape.optional() })) })
    .optional(),
});
const shape = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.object({ schemas: z.record(z.string(), schemaShape) }),
});

export interface DescribedCall {
  method: string;
  /** As in the description: `/channels/{channel_id}/messages`. */
  route: string;
  query: URLSearchParams;
  contentType: string;
  body: unknown;
}

export interface DescriptionCheck {
  /** The complaints about a call. A call that the description does not know has none. */
  (call: DescribedCall): string[];
  /** Whether it knows a call, given as `METHOD route`. */
  knows(call: string): boolean;
}

/** Checks calls against Discord's published OpenAPI description, where that file is at hand. */
export function loadDescriptionCheck(): DescriptionCheck {
  if (!existsSync(description)) return Object.assign(() => [], { knows: () => false });
  const spec = shape.parse(JSON.parse(readFileSync(description, 'utf8')));
  const check = createValidator(spec.components.schemas);
  const operationOf = (method: string, route: string) => spec.paths[route]?.[method.toLowerCase()];
  const checkCall = ({ method, route, query, contentType, body }: DescribedCall) => {
    const raw = operationOf(method, route);
    if (raw === undefined) return [];
    const { parameters: known = [], requestBody } = operation.parse(raw);
    const complaints = [...query].flatMap(([name, value]) => {
      const parameter = known.find((candidate) => candidate.in === 'query' && candidate.name === name);
      if (parameter?.schema === undefined) return [`?${name}: unknown parameter`];
      return check(parameter.schema, typedParameter(parameter.schema, value), `?${name}`);
    });
    const schema = requestBody?.content[contentType]?.schema;
    if (body !== undefined && schema === undefined)
      complaints.push(`a body of type ${contentType} is not taken`);
    if (body !== undefined && schema !== undefined) complaints.push(...check(schema, body, 'body'));
    return complaints.map((complaint) => `${method} ${route}: ${complaint}`);
  };
  return Object.assign(checkCall, {
    knows(call: string) {
      const [method = '', route = ''] = call.split(' ');
      return operationOf(method, route) !== undefined;
    },
  });
}

function typedParameter(schema: Schema, text: string): unknown {
  const types = [schema.type].flat();
  if (types.includes('integer') || types.includes('number')) return Number(text);
  if (types.includes('boolean')) return text === 'true';
  return text;
}
