import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/**
 * `node:http` with kept connections. A model call is most of what a turn costs, and this way takes a third of the
 * processor time of the `openai` client and keeps the connection: docs/decisions/005-model-client.md.
 */
const agents = {
  'http:': new HttpAgent({ keepAlive: true }),
  'https:': new HttpsAgent({ keepAlive: true }),
};

export interface Post {
  url: URL;
  apiKey: string;
  body: string;
  /** Ends the exchange at any point; the promise rejects with the system's abort error. */
  signal: AbortSignal;
}

/**
 * Resolves with the response once its headers are there. Rejects when the connection fails before that. A kept
 * connection that the server had closed meanwhile is no failure: the request is sent again over a new one.
 */
export async function post(options: Post): Promise<IncomingMessage> {
  for (;;) {
    const outcome = await send(options);
    if (outcome.kind === 'response') return outcome.response;
    if (!outcome.stale) throw outcome.error;
  }
}

type Outcome =
  | { kind: 'response'; response: IncomingMessage }
  | { kind: 'failure'; error: unknown; stale: boolean };

function send({ url, apiKey, body, signal }: Post): Promise<Outcome> {
  const secure = url.protocol === 'https:';
  const options = {
    method: 'POST',
    agent: agents[secure ? 'https:' : 'http:'],
    signal,
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'hermes-gateway',
      ...(apiKey !== '' && { authorization: `Bearer ${apiKey}` }),
    },
  };
  return new Promise((resolve) => {
    const onResponse = (response: IncomingMessage) => resolve({ kind: 'response', response });
    const request = secure ? httpsRequest(url, options, onResponse) : httpRequest(url, options, onResponse);
    request.on('error', (error) => {
      resolve({
        kind: 'failure',
        error,
        stale: request.reusedSocket && 'code' in error && error.code === 'ECONNRESET',
      });
    });
    request.end(body);
  });
}

/**
 * Feeds the body to `onText` as it comes; resolves at its end, rejects when it breaks off before. A body is read to
 * its end even if nothing of interest follows, or the connection could not be kept.
 */
export function consume(response: IncomingMessage, onText: (piece: string) => void): Promise<void> {
  response.setEncoding('utf8');
  return new Promise((resolve, reject) => {
    response.on('data', (piece: string) => {
      try {
        onText(piece);
      } catch (error) {
        reject(error);
        response.destroy();
      }
    });
    response.on('end', resolve);
    response.on('error', reject);
    response.on('close', () => reject(new Error('the connection was closed')));
  });
}

/** The whole body as text, at most `maxUnits` of it. */
export async function readText(response: IncomingMessage, maxUnits: number): Promise<string> {
  let text = '';
  await consume(response, (piece) => {
    if (text.length + piece.length > maxUnits) throw new Error(`more than ${maxUnits} characters`);
    text += piece;
  });
  return text;
}

/** `Retry-After` in milliseconds: seconds or a date, and the finer header that some providers send. */
export function retryAfterMs(response: IncomingMessage, now: number): number | undefined {
  const fine = Number(response.headers['retry-after-ms']);
  if (Number.isFinite(fine) && fine >= 0) return fine;
  const text = response.headers['retry-after'];
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
