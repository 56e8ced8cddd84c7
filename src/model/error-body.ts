import { z } from 'zod';
import type { GatewayError } from '../errors.ts';
import { failureOf, type Provider } from './failures.ts';

/** Errors as providers write them: OpenAI's object, a plain text, or a message at the top. */
const errorSchema = z.union([
  z.string().transform((message) => ({ message, code: null })),
  z.object({ message: z.string().nullish(), code: z.union([z.string(), z.number()]).nullish() }),
]);
const bodySchema = z.object({ error: errorSchema.optional(), message: z.string().optional() });

/** The provider's own words out of an error body; nothing when it is a web page. */
export function detailOf(body: string): string {
  try {
    const { error, message } = bodySchema.parse(JSON.parse(body));
    return [error?.message, error?.code].filter(Boolean).join(' ') || (message ?? '');
  } catch {
    return '';
  }
}

/** An error in the middle of an answer, which has no status of its own but may name one. */
export function failureWithin(provider: Provider, error: unknown): GatewayError {
  const parsed = errorSchema.safeParse(error);
  const { message, code } = parsed.success ? parsed.data : { message: null, code: null };
  const detail = message ?? String(code ?? 'an error');
  const named = Number(code);
  const limited = /rate.?limit/i.test(`${code} ${detail}`) ? 429 : 500;
  const status = Number.isInteger(named) && named >= 400 ? named : limited;
  return failureOf(provider, { status, detail, retryAfterMs: undefined });
}
