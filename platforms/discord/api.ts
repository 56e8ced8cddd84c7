import type { RawFile, REST } from 'discord.js';
import { z } from 'zod';
import { type DiscordErrorClasses, type Effect, toGatewayError } from './errors.ts';

export interface ApiCall {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  path: `/${string}`;
  /** Ends the sentence "Discord was asked to …". */
  what: string;
  effect?: Effect;
  body?: unknown;
  query?: URLSearchParams;
  files?: RawFile[];
  signal?: AbortSignal;
  /** False for the routes that a token in the path authorises. */
  auth?: boolean;
}

export interface DiscordApi {
  /** One REST call, its answer checked. Rejects with a `GatewayError` only. */
  call<Shape extends z.ZodType>(call: ApiCall, shape: Shape): Promise<z.infer<Shape>>;
  /** One whose answer does not matter. */
  run(call: ApiCall): Promise<void>;
}

/** The face of discord.js's REST client: it counts the buckets, this maps its failures. */
export function createApi(rest: REST, classes: DiscordErrorClasses): DiscordApi {
  async function request({
    method,
    path,
    what,
    effect = 'repeatable',
    ...options
  }: ApiCall): Promise<unknown> {
    try {
      return await rest[method](path, options);
    } catch (error) {
      throw toGatewayError(error, what, effect, classes);
    }
  }
  return {
    call: async (call, shape) => shape.parse(await request(call)),
    run: async (call) => void (await request(call)),
  };
}

export const withId = z.object({ id: z.string() });
