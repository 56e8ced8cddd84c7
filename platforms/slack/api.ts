import { AsyncLocalStorage } from 'node:async_hooks';
import type { webApi } from '@slack/bolt';
import { z } from 'zod';
import { type Effect, toGatewayError } from './errors.ts';
import { createPost } from './post.ts';

export type CallArgs = Record<string, unknown>;

/** Calls Web API methods of one workspace. Rejects with a GatewayError only. */
export interface SlackApi {
  /** For calls that may be repeated without harm: reads, edits, removals. */
  call<Type>(shape: z.ZodType<Type>, method: string, args: CallArgs, signal?: AbortSignal): Promise<Type>;
  /** For calls that show something new: a lost answer becomes `send_unknown`. */
  send<Type>(shape: z.ZodType<Type>, method: string, args: CallArgs, signal?: AbortSignal): Promise<Type>;
}

/** For answers of which nothing is read. */
export const anyAnswer = z.object({});

const requestTimeoutMs = 30_000;

/**
 * The client has no way to cancel one call, only to replace `fetch`. The signal of the call in progress therefore
 * travels beside the call; with no queue in front (`maxRequestConcurrency`) `fetch` runs in the caller's context.
 */
const callSignal = new AsyncLocalStorage<AbortSignal | undefined>();

/** All that the client sends for our calls: forms, and never a file. */
const textCall = z.object({ headers: z.record(z.string(), z.string()), body: z.string() });
const post = createPost();

/** Options for every Web API client here: no retries and no waiting inside, both are the gateway's. */
export function clientOptions(apiRoot: string, logger: webApi.Logger): webApi.WebClientOptions {
  return {
    slackApiUrl: apiRoot,
    allowAbsoluteUrls: false,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    maxRequestConcurrency: Number.POSITIVE_INFINITY,
    timeout: requestTimeoutMs,
    logger,
    fetch: (input, init) => {
      const signals = [callSignal.getStore(), init?.signal].filter((signal) => signal instanceof AbortSignal);
      const call = textCall.parse(init);
      return post(new URL(String(input)), { ...call, signal: AbortSignal.any(signals) });
    },
  };
}

export function createApi(client: webApi.WebClient): SlackApi {
  const run = async <Type>(
    shape: z.ZodType<Type>,
    method: string,
    args: CallArgs,
    effect: Effect,
    signal: AbortSignal | undefined,
  ): Promise<Type> => {
    signal?.throwIfAborted();
    try {
      return shape.parse(await callSignal.run(signal, () => client.apiCall(method, args)));
    } catch (error) {
      throw toGatewayError(error, method, effect);
    }
  };
  return {
    call: (shape, method, args, signal) => run(shape, method, args, 'repeatable', signal),
    send: (shape, method, args, signal) => run(shape, method, args, 'send', signal),
  };
}
