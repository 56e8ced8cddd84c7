import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { Hono } from 'hono/tiny';
import type { PlatformRoute } from '../../platforms/platform.ts';
import { errorMessage, GatewayError } from '../errors.ts';
import type { Log } from '../log.ts';
import { redactSecrets } from '../redact.ts';
import type { Guard } from './guard.ts';
import { secureHeaders } from './headers.ts';
import { isLoopback, localUrl } from './host.ts';
import { signInPath, signInStyle, signInStylePath } from './sign-in.ts';

export interface ServerOptions {
  host: string;
  /** 0 takes a free port. */
  port: number;
  /** Guards `/metrics` from afar and signs people in. Without one only a loopback address may be bound. */
  guard: Guard | null;
  /** Why the gateway is not ready, one line a reason; empty when it is. A rejection counts as a reason. */
  notReady(): Promise<readonly string[]>;
  metrics: { render(): string };
  routes: readonly PlatformRoute[];
  log: Log;
}

export interface GatewayServer {
  /** Where a person on this machine reaches it; the port is known once `start` has resolved. */
  readonly url: string;
  /** Resolves when it listens; rejects with `port_in_use` or `config_invalid`. */
  start(): Promise<void>;
  /** Stops listening and lets running requests end, for 2 s at most. */
  stop(): Promise<void>;
}

const defaultBodyBytes = 1024 * 1024;
const stopGraceMs = 2_000;

/** The gateway's one HTTP server: health, metrics and the routes of the platforms. */
export function createServer(options: ServerOptions): GatewayServer {
  const { host, guard } = options;
  if (guard === null && !isLoopback(host)) {
    throw new GatewayError(
      'config_invalid',
      `GATEWAY_HOST is ${host}, an address that other machines reach, and there is no token to protect it.`,
      { mend: 'Set GATEWAY_TOKEN, or set GATEWAY_HOST to 127.0.0.1.' },
    );
  }
  const app = createApp(options);
  // The library would otherwise replace the global Request and Response, which other parts of the process use.
  const server = createAdaptorServer({ fetch: app.fetch, hostname: host, overrideGlobalObjects: false });
  if (!('closeIdleConnections' in server)) throw new TypeError('The HTTP server must be of HTTP/1.');
  let port = options.port;

  return {
    get url() {
      return localUrl(host, port);
    },
    async start() {
      port = await listen(server, host, options.port);
    },
    stop: () => close(server),
  };
}

function createApp({ host, guard, notReady, metrics, routes, log }: ServerOptions): Hono {
  const app = new Hono();
  app.use(async (context, next) => {
    await next();
    secureHeaders(context.res);
  });
  app.get('/healthz', () => Response.json({ status: 'ok' }));
  app.get('/readyz', async () => {
    const reasons = await notReady().catch((error: unknown) => [errorMessage(error)]);
    return reasons.length === 0
      ? Response.json({ status: 'ready' })
      : Response.json({ status: 'not ready', reasons: reasons.map(redactSecrets) }, { status: 503 });
  });
  app.get('/metrics', (context) => {
    const request = context.req.raw;
    const open = isLoopback(host) && !isForwarded(request);
    const refused = open ? guard?.admitHost(request) : guard?.admit(request);
    return (
      refused ?? new Response(metrics.render(), { headers: { 'content-type': 'text/plain; version=0.0.4' } })
    );
  });
  if (guard !== null) {
    app.post(signInPath, limitBody(), (context) => guard.signIn(context.req.raw));
    app.get(signInStylePath, () => new Response(signInStyle, { headers: { 'content-type': 'text/css' } }));
  }
  for (const route of routes) {
    app.on(route.method, route.path, limitBody(route.maxBodyBytes), (context) =>
      route.handle(context.req.raw),
    );
  }
  app.notFound(() => Response.json({ error: 'There is nothing at this address.' }, { status: 404 }));
  app.onError((error, context) => {
    log.error({ err: error, path: context.req.path }, 'A request failed');
    return Response.json({ error: 'The gateway failed to answer; its log says why.' }, { status: 500 });
  });
  return app;
}

/**
 * A body whose length is announced is only compared with the limit. One that is not would be gathered in memory
 * before anyone knows whose it is, so it gets no more than the default.
 */
function limitBody(maxBytes = defaultBodyBytes): MiddlewareHandler {
  const announced = bodyLimitOf(maxBytes);
  const chunked = bodyLimitOf(Math.min(maxBytes, defaultBodyBytes));
  return (context, next) =>
    (context.req.raw.headers.has('transfer-encoding') ? chunked : announced)(context, next);
}

function bodyLimitOf(maxSize: number): MiddlewareHandler {
  const tooLarge = { error: `The request is larger than ${maxSize} bytes.` };
  return bodyLimit({ maxSize, onError: () => Response.json(tooLarge, { status: 413 }) });
}

/** A reverse proxy on this machine brings strangers in by the loopback address. */
function isForwarded(request: Request): boolean {
  return request.headers.has('x-forwarded-for') || request.headers.has('forwarded');
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => reject(listenError(error, host, port));
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      const address = server.address();
      resolve(address !== null && typeof address === 'object' ? address.port : port);
    });
  });
}

function listenError(error: Error, host: string, port: number): GatewayError {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return new GatewayError('port_in_use', `Port ${port} on ${host} is in use by another program.`, {
      mend: 'Stop that program (it may be a gateway that still runs), or set GATEWAY_PORT to a free port.',
      cause: error,
    });
  }
  return new GatewayError(
    'config_invalid',
    `The gateway cannot listen on ${host}:${port}: ${error.message}`,
    {
      mend: 'Set GATEWAY_HOST to an address of this machine and GATEWAY_PORT to a port above 1023.',
      cause: error,
    },
  );
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const force = setTimeout(() => server.closeAllConnections(), stopGraceMs);
  await closed;
  clearTimeout(force);
}
