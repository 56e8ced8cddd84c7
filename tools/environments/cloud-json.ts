import type { z } from 'zod';
import { GatewayError } from '../../src/errors.ts';

/** A service's answer by its shape; one that has another comes from something else than the service. */
export function readAnswer<T>(service: { name: string; mend: string }, shape: z.ZodType<T>, text: string): T {
  const parsed = shape.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new GatewayError(
    'environment_unavailable',
    `${service.name} gave an answer that its API does not describe.`,
    { mend: service.mend, cause: parsed.error },
  );
}

/** Null where the text is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
