import { isRecord } from './results.ts';
import type { JsonSchema } from './tool.ts';

/**
 * A schema in the form that the strictest providers take: an object always has `properties`, an array has
 * `items`, a nullable union is the type alone, `required` names only what exists, no `$schema`. Coercion and
 * checking keep using the tool's own schema. Always a new object.
 */
export function toProviderSchema(schema: JsonSchema | null): Record<string, unknown> {
  return sanitize({ type: 'object', ...schema });
}

function sanitize(schema: JsonSchema): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = withoutNull(schema);
  const clean: Record<string, unknown> = rest;
  if (clean['maximum'] === Number.MAX_SAFE_INTEGER) delete clean['maximum']; // zod's way to say "an integer"
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const members = clean[key];
    if (Array.isArray(members)) clean[key] = members.map(sanitizeUnknown);
  }
  if (clean['type'] === 'object') {
    const properties = isRecord(clean['properties']) ? clean['properties'] : {};
    clean['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, sanitizeUnknown(property)]),
    );
    const required = clean['required'];
    if (Array.isArray(required)) {
      clean['required'] = required.filter(
        (name) => typeof name === 'string' && Object.hasOwn(properties, name),
      );
    }
  }
  if (clean['type'] === 'array') clean['items'] = sanitizeUnknown(clean['items'] ?? {});
  if (isRecord(clean['additionalProperties'])) {
    clean['additionalProperties'] = sanitize(clean['additionalProperties']);
  }
  return clean;
}

const sanitizeUnknown = (value: unknown): unknown => (isRecord(value) ? sanitize(value) : value);

/** `string | null` becomes `string`: leaving an optional argument out says the same. */
function withoutNull(schema: JsonSchema): Record<string, unknown> {
  const clean = { ...schema };
  if (Array.isArray(clean['type'])) {
    const types = clean['type'].filter((type) => type !== 'null');
    clean['type'] = types.length === 1 ? types[0] : types;
  }
  for (const key of ['anyOf', 'oneOf']) {
    const members = clean[key];
    if (!Array.isArray(members)) continue;
    const kept = members.filter((member) => !(isRecord(member) && member['type'] === 'null'));
    if (kept.length === members.length) continue;
    delete clean[key];
    const [only] = kept;
    if (kept.length === 1 && isRecord(only)) Object.assign(clean, { ...withoutNull(only), ...clean });
    else clean[key] = kept;
  }
  return clean;
}
