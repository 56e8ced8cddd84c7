import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** How far a call got before it failed: surely not sent, or sent with an unknown outcome. */
export type CallPhase = 'unsent' | 'unknown';

export class TransportError extends Error {
  readonly phase: CallPhase;
  constructor(phase: CallPhase, message: string) {
    super(message);
    this.name = 'TransportError';
    this.phase = phase;
  }
}

export interface Transport {
  /** POSTs `body` as JSON to `<apiRoot>/<path>`; resolves to the answer's text whatever its status. */
  post(path: string, body: string, signal?: AbortSignal): Promise<{ status: number; text: string }>;
  /** GETs a file; the stream is the caller's to read or destroy. */
  get(path: string, signal?: AbortSignal): Promise<IncomingMessage>;
  close(): void;
}

/** Answers of the Bot API are small, except for a batch of 100 updates. */
const maxAnswerBytes = 32 * 1024 * 1024;

/**
 * HTTP with connections kept open, by Node's own client. It takes half the processor time of `fetch`, and it tells
 * whether the request left, which decides whether a message may be sent again.
 */
export function createTransport(apiRoot: string): Transport {
  const secure = apiRoot.startsWith('https:');
  const agentOptions = { keepAlive: true, maxSockets: 256, scheduling: 'lifo' } as const;
  const agent = secure ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions);
  const send = secure ? httpsRequest : httpRequest;

  function start(
    method: 'GET' | 'POST',
    path: string,
    body: string,
    signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      let sent = false;
      const headers =
        method === 'POST'
          ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
          : {};
      const call = send(`${apiRoot}/${path}`, { method, headers, agent, ...(signal && { signal }) }, resolve);
      call.once('socket', (socket) => {
        if (!socket.connecting) sent = true;
        else
          socket.once(secure ? 'secureConnect' : 'connect', () => {
            sent = true;
          });
      });
      call.on('error', (error) => reject(asTransportError(error, sent ? 'unknown' : 'unsent', signal)));
      call.end(body);
    });
  }

  return {
    async post(path, body, signal) {
      const answer = await start('POST', path, body, signal);
      try {
        return { status: answer.statusCode ?? 0, text: await readText(answer) };
      } catch (error) {
        throw asTransportError(error, 'unknown', signal);
      }
    },
    get: (path, signal) => start('GET', path, '', signal),
    close: () => agent.destroy(),
  };
}

function asTransportError(error: unknown, phase: CallPhase, signal: AbortSignal | undefined): TransportError {
  if (error instanceof TransportError) return error;
  if (signal?.aborted) return new TransportError(phase, 'no answer in time');
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // Not the error's message: a code names neither path nor token.
  return new TransportError(phase, code || 'connection failed');
}

function readText(answer: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxAnswerBytes)
        answer.destroy(new TransportError('unknown', 'the answer is larger than 32 MiB'));
      else chunks.push(chunk);
    });
    answer.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    answer.on('error', reject);
  });
}
