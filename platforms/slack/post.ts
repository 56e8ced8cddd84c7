import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';

const agentOptions = { keepAlive: true, maxSockets: 256, scheduling: 'lifo' } as const;

export interface Posting {
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
}

/**
 * Posts as `fetch` does, by Node's own client with connections kept open: it takes less than half the processor time,
 * since `fetch` makes streams of everything. Follows no redirects.
 */
export function createPost() {
  const agents = { 'http:': new HttpAgent(agentOptions), 'https:': new HttpsAgent(agentOptions) };

  return async (url: URL, { headers, body, signal }: Posting): Promise<Response> => {
    const secure = url.protocol === 'https:';
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = {
        method: 'POST',
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
        agent: secure ? agents['https:'] : agents['http:'],
        signal,
      };
      const call = (secure ? httpsRequest : httpRequest)(url, options, resolve);
      call.once('error', reject);
      call.end(body);
    });
    const text = await buffer(answer);
    const status = answer.statusCode ?? 502;
    return new Response(status === 204 || status === 304 ? null : new Uint8Array(text), {
      status,
      statusText: answer.statusMessage ?? '',
      headers: Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, String(value)]],
      ),
    });
  };
}
