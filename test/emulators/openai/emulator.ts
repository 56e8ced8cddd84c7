import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type ChatRequest, chunksOf, completionOf, type ScriptedReply } from './reply.ts';

/** What goes wrong with the next request. */
export type Fault =
  /** An HTTP error; `retryAfter` in seconds. */
  | { kind: 'status'; status: number; retryAfter?: number; message?: string; code?: string }
  /** The stream breaks off after so many chunks, without an end. */
  | { kind: 'cut'; afterChunks: number }
  /** An error object within the stream. */
  | { kind: 'streamError'; message: string }
  /** Headers and so many chunks, then silence until the client gives up. */
  | { kind: 'silence'; afterChunks: number }
  /** No answer at all: the connection is dropped. */
  | { kind: 'hangUp' }
  /** Something else than JSON, as a proxy's error page. */
  | { kind: 'garbage' };

/** One answered request, for whoever measures. Times are `performance.timeOrigin`-based epoch milliseconds. */
export interface Held {
  receivedAt: number;
  answeredAt: number;
  heldMs: number;
}

export interface OpenAIEmulator extends AsyncDisposable {
  /** For `OPENAI_BASE_URL`. */
  readonly url: string;
  /** Every chat request, oldest first, with its headers. */
  readonly requests: readonly { body: ChatRequest; authorization: string | undefined }[];
  readonly held: readonly Held[];
  /** Queues the answers of the next requests; without any, `answer` speaks. */
  say(...replies: ScriptedReply[]): void;
  /** Queues a fault, before any answer. */
  fail(fault: Fault, times?: number): void;
  /** The key that is accepted; any, unless set. */
  requireKey(key: string): void;
  /** Closes every connection, as an idle timeout of the server would. */
  dropConnections(): void;
  close(): Promise<void>;
}

export interface EmulatorOptions {
  port?: number;
  /** Used when nothing was queued. */
  answer?: (request: ChatRequest) => ScriptedReply;
  /** Keeps the requests themselves; off for long measurements. Default true. */
  record?: boolean;
}

/** A chat completions server that says what it is told to, streamed or not, and fails on order. */
export async function createOpenAIEmulator(options: EmulatorOptions = {}): Promise<OpenAIEmulator> {
  const answer = options.answer ?? (() => ({ text: 'ok' }));
  const requests: { body: ChatRequest; authorization: string | undefined }[] = [];
  const held: Held[] = [];
  const replies: ScriptedReply[] = [];
  const faults: Fault[] = [];
  let key: string | null = null;
  let count = 0;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const receivedAt = now();
    const path = new URL(request.url ?? '/', 'http://emulator').pathname;
    if (path.endsWith('/held')) return void json(response, 200, held.splice(0));
    if (path.endsWith('/models'))
      return void json(response, 200, { object: 'list', data: [{ id: 'fake', object: 'model' }] });
    if (!path.endsWith('/chat/completions')) return refuse(response, 404, `no such path: ${path}`);
    const body: ChatRequest = JSON.parse(await read(request));
    if (options.record !== false) requests.push({ body, authorization: request.headers.authorization });
    if (key !== null && request.headers.authorization !== `Bearer ${key}`) {
      return refuse(
        response,
        401,
        `Incorrect API key provided: ${request.headers.authorization}`,
        'invalid_api_key',
      );
    }
    count += 1;
    const fault = faults.shift();
    if (fault?.kind === 'hangUp') return void request.socket.destroy();
    if (fault?.kind === 'garbage')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>no</html>');
    if (fault?.kind === 'status') {
      if (fault.retryAfter !== undefined) response.setHeader('retry-after', String(fault.retryAfter));
      return refuse(response, fault.status, fault.message ?? `fault ${fault.status}`, fault.code);
    }
    const reply = replies.shift() ?? answer(body);
    if (body.stream) await stream(response, reply, body.model, `${count}`, fault);
    else json(response, 200, completionOf(reply, body.model, `${count}`));
    const answeredAt = now();
    if (fault === undefined) held.push({ receivedAt, answeredAt, heldMs: answeredAt - receivedAt });
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => refuse(response, 400, String(error)));
  });
  server.keepAliveTimeout = 60_000;
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the emulator has no port');
  const { port } = address;

  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    held,
    say: (...next) => void replies.push(...next),
    fail: (fault, times = 1) => void faults.push(...Array.from({ length: times }, () => fault)),
    requireKey: (accepted) => {
      key = accepted;
    },
    dropConnections: () => server.closeAllConnections(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function stream(
  response: ServerResponse,
  reply: ScriptedReply,
  model: string,
  id: string,
  fault: Fault | undefined,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const events = chunksOf(reply, model, id).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  if (fault?.kind === 'streamError') {
    response.end(
      `${events[0]}data: ${JSON.stringify({ error: { message: fault.message, code: 'server_error' } })}\n\n`,
    );
  } else if (fault?.kind === 'cut') {
    response.write(events.slice(0, fault.afterChunks).join(''), () => response.destroy());
  } else if (fault?.kind === 'silence') {
    response.write(events.slice(0, fault.afterChunks).join(''));
  } else if (reply.pauseMs === undefined) {
    response.end(`${events.join('')}data: [DONE]\n\n`);
  } else {
    for (const event of events) {
      await pause(reply.pauseMs);
      if (response.destroyed) return;
      response.write(event);
    }
    response.end('data: [DONE]\n\n');
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function refuse(response: ServerResponse, status: number, message: string, code?: string): void {
  json(response, status, { error: { message, type: 'error', param: null, code: code ?? null } });
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
