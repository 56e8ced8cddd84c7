import type { IncomingMessage } from 'node:http';
import type { Clock } from '../clock.ts';
import { GatewayError } from '../errors.ts';
import type { Log } from '../log.ts';
import { rememberSecret } from '../redact.ts';
import { detailOf, failureWithin } from './error-body.ts';
import {
  BrokenStream,
  cancelled,
  failureOf,
  notACompletion,
  type Provider,
  unreachable,
} from './failures.ts';
import type { ModelClient, ModelReply, ModelRequest } from './model-client.ts';
import { withRetries } from './retry.ts';
import { createSseReader } from './sse.ts';
import { consume, post, readText, retryAfterMs } from './transport.ts';
import { createWatchdog, type Limits, type Watchdog } from './watchdog.ts';
import { answerSchema, bodyOf, createAssembler } from './wire.ts';

export interface OpenAIOptions {
  model: string;
  /** Base of the API, such as `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Empty for servers that want none. */
  apiKey: string;
  /** What messages call the key. */
  keyName: string;
  contextTokens: number;
  maxTokens?: number;
  temperature?: number;
  retries: number;
  limits: { streaming: Limits; whole: Limits };
}

interface Deps {
  log: Log;
  clock: Clock;
}

const maxErrorUnits = 64 * 1024;
const maxAnswerUnits = 32 * 1024 * 1024;

/** A client of any server that speaks OpenAI's chat completions. */
export function createOpenAIModel(options: OpenAIOptions, deps: Deps): ModelClient {
  rememberSecret(options.apiKey);
  const url = new URL(`${options.baseUrl.replace(/\/+$/, '')}/chat/completions`);
  const provider: Provider = { host: url.host, model: options.model, keyName: options.keyName };
  const limitName = url.hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens';

  async function complete(request: ModelRequest): Promise<ModelReply> {
    if (request.signal.aborted) throw cancelled();
    let shown = false;
    const onText = (delta: string) => {
      shown = true;
      request.onText?.(delta);
    };
    return withRetries({ retries: options.retries, ...deps, signal: request.signal }, (stream) => {
      if (shown) request.onRestart?.();
      shown = false;
      return attempt({ ...request, onText }, stream);
    });
  }

  /** One exchange with the provider, under its time limits. */
  async function attempt(request: ModelRequest, stream: boolean): Promise<ModelReply> {
    const ending = new AbortController();
    const onAbort = () => ending.abort(cancelled());
    request.signal.addEventListener('abort', onAbort, { once: true });
    const limits = stream ? options.limits.streaming : options.limits.whole;
    const watchdog = createWatchdog(deps.clock, limits, (what) =>
      ending.abort(new BrokenStream(provider, what)),
    );
    const body = bodyOf(request, {
      model: options.model,
      stream,
      maxTokens: request.maxTokens ?? options.maxTokens,
      temperature: request.temperature ?? options.temperature,
      limitName,
    });
    try {
      return await exchange(request, body, ending.signal, watchdog);
    } catch (error) {
      // Whoever ended the exchange knows the reason better than the broken socket does.
      throw ending.signal.aborted ? ending.signal.reason : error;
    } finally {
      watchdog.stop();
      request.signal.removeEventListener('abort', onAbort);
    }
  }

  async function exchange(
    request: ModelRequest,
    body: string,
    signal: AbortSignal,
    watchdog: Watchdog,
  ): Promise<ModelReply> {
    const response = await post({ url, apiKey: options.apiKey, body, signal }).catch((error: unknown) => {
      throw unreachable(provider, error);
    });
    watchdog.sawByte();
    request.onActivity?.();
    const status = response.statusCode ?? 0;
    if (status !== 200) {
      const detail = await readText(response, maxErrorUnits).then(detailOf, () => '');
      throw failureOf(provider, { status, detail, retryAfterMs: retryAfterMs(response, deps.clock.now()) });
    }
    const streamed = response.headers['content-type']?.startsWith('text/event-stream') === true;
    return streamed ? readStream(request, response, watchdog) : readWhole(request, response);
  }

  async function readStream(
    request: ModelRequest,
    response: IncomingMessage,
    watchdog: Watchdog,
  ): Promise<ModelReply> {
    const answer = createAssembler((delta) => request.onText?.(delta));
    let done = false;
    const reader = createSseReader((data) => {
      if (done) return;
      if (data === '[DONE]') {
        done = true;
        return;
      }
      const part = partOf(data);
      if (part === null) throw new BrokenStream(provider, 'a piece that cannot be read');
      if (part.error) throw failureWithin(provider, part.error);
      watchdog.sawPiece();
      answer.add(part);
    });
    try {
      await consume(response, (piece) => {
        watchdog.sawByte();
        request.onActivity?.();
        reader.push(piece);
      });
      reader.end();
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      // The answer was complete; only what comes after it is missing.
      if (!done && !answer.finished()) throw new BrokenStream(provider, 'the connection was lost', error);
    }
    if (!done && !answer.finished()) throw new BrokenStream(provider, 'the end is missing');
    return answer.reply(options.model);
  }

  async function readWhole(request: ModelRequest, response: IncomingMessage): Promise<ModelReply> {
    const text = await readText(response, maxAnswerUnits).catch((error: unknown) => {
      throw unreachable(provider, error);
    });
    const part = partOf(text);
    if (part?.error) throw failureWithin(provider, part.error);
    if (!part?.choices?.[0]?.message) throw notACompletion(provider);
    const answer = createAssembler((delta) => request.onText?.(delta));
    answer.add(part);
    return answer.reply(options.model);
  }

  return { model: options.model, contextTokens: options.contextTokens, complete };
}

function partOf(data: string) {
  try {
    return answerSchema.parse(JSON.parse(data));
  } catch {
    return null;
  }
}
