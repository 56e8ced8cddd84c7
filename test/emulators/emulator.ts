import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** What shall go wrong with the next calls of a method (`*`: of any). */
export type Fault =
  | { kind: 'fail'; status: number; description?: string; retryAfter?: number }
  /** The connection breaks: before the call takes effect, or after. */
  | { kind: 'drop'; when: 'before' | 'after' }
  /** Taken in, never answered. */
  | { kind: 'hang' }
  | { kind: 'delay'; ms: number };

export interface Faults {
  /** Hits the next `times` calls (default 1; Infinity until cleared). */
  add(method: string, fault: Fault, times?: number): void;
  take(method: string): Fault | undefined;
  clear(): void;
}

export function createFaults(): Faults {
  const planned: { method: string; fault: Fault; left: number }[] = [];
  return {
    add(method, fault, times = 1) {
      planned.push({ method, fault, left: times });
    },
    take(method) {
      const index = planned.findIndex((plan) => plan.method === method || plan.method === '*');
      const plan = planned[index];
      if (plan === undefined) return undefined;
      plan.left -= 1;
      if (plan.left <= 0) planned.splice(index, 1);
      return plan.fault;
    },
    clear: () => {
      planned.length = 0;
    },
  };
}

/** Tells waiters that the world changed, so that a test waits for what it needs and never for a time. */
export interface Changes {
  announce(): void;
  /** Resolves with the first value of `look` that is not undefined; looks again at each change. */
  until<T>(what: string, look: () => T | undefined, timeoutMs?: number): Promise<T>;
}

export function createChanges(describe: () => string): Changes {
  const waiting = new Set<() => void>();
  return {
    announce() {
      for (const check of waiting) check();
    },
    until(what, look, timeoutMs = 5_000) {
      return new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer);
          waiting.delete(check);
        };
        const check = () => {
          const seen = look();
          if (seen === undefined) return;
          end();
          resolve(seen);
        };
        const timer = setTimeout(() => {
          end();
          reject(new Error(`waited ${timeoutMs} ms for ${what}; there is:\n${describe()}`));
        }, timeoutMs);
        waiting.add(check);
        check();
      });
    },
  };
}

export interface HttpHost {
  url: string;
  /** Ends every connection at once. */
  close(): Promise<void>;
}

/** An HTTP server on a free loopback port. A handler that throws answers 500 with the reason. */
export async function startHttp(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  port = 0,
): Promise<HttpHost> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) return response.destroy();
      answerJson(response, 500, { error: String(error) });
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no address');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
