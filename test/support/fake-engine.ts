import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/**
 * As much of the Engine API as making a container takes, for what no engine here can show: a pull, storage that can be
 * limited. Nothing runs in it. What the API does not have is refused and kept as a violation.
 */
export interface FakeEngine {
  /** For `DOCKER_HOST`. */
  host: string;
  socket: string;
  violations: string[];
  /** The bodies of the containers that were made. */
  created: z.output<typeof createShape>[];
  images: Set<string>;
  info: { Driver: string; DriverStatus: string[][] };
  /** The lines of a pull; the stream ends with them. */
  pull: (image: string) => AsyncIterable<object> | Iterable<object>;
  /** Why a container with `StorageOpt` is refused, if it is. */
  refusesStorage: string | null;
  stop(): Promise<void>;
}

const createShape = z.looseObject({
  Image: z.string(),
  HostConfig: z.looseObject({ StorageOpt: z.strictObject({ size: z.string().regex(/^\d+M$/) }).optional() }),
});

/** `at`: the socket's path below a folder of its own. */
export async function startFakeEngine(at = 'docker.sock'): Promise<FakeEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'fake-engine-'));
  const socket = join(folder, at);
  await mkdir(dirname(socket), { recursive: true });
  const engine: FakeEngine = {
    host: `unix://${socket}`,
    socket,
    violations: [],
    created: [],
    images: new Set(),
    info: { Driver: 'overlay2', DriverStatus: [['Backing Filesystem', 'extfs']] },
    pull: () => [],
    refusesStorage: null,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    },
  };
  const server = createServer((request, response) => {
    serve(engine, request, response).catch((error: unknown) => {
      engine.violations.push(`${request.method} ${request.url}: ${error}`);
      answer(response, 500, { message: String(error) });
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return engine;
}

async function serve(engine: FakeEngine, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '', 'http://engine');
  const call = `${request.method} ${url.pathname}`;
  const image = /^GET \/images\/(.+)\/json$/.exec(call)?.[1];
  if (image !== undefined) {
    if (engine.images.has(decodeURIComponent(image))) return answer(response, 200, { Id: image });
    return answer(response, 404, { message: `No such image: ${image}` });
  }
  if (call === 'GET /info') return answer(response, 200, engine.info);
  if (call === 'POST /images/create') return pull(engine, url.searchParams, response);
  if (/^GET \/containers\/[\w.-]+\/json$/.test(call)) return answer(response, 404, { message: 'none' });
  if (call === 'POST /containers/create') return create(engine, request, response);
  if (/^POST \/containers\/made\d+\/start$/.test(call)) return answer(response, 204, null);
  throw new Error('not a call that is used');
}

async function pull(engine: FakeEngine, query: URLSearchParams, response: ServerResponse): Promise<void> {
  const asked = z.strictObject({ fromImage: z.string(), tag: z.string() }).parse(Object.fromEntries(query));
  const image = `${asked.fromImage}:${asked.tag}`;
  response.writeHead(200, { 'content-type': 'application/json' });
  for await (const line of engine.pull(image)) response.write(`${JSON.stringify(line)}\r\n`);
  response.end();
  engine.images.add(image);
}

async function create(engine: FakeEngine, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(Buffer.from(part));
  const body = createShape.parse(JSON.parse(Buffer.concat(parts).toString('utf8')));
  if (body.HostConfig.StorageOpt !== undefined && engine.refusesStorage !== null) {
    return answer(response, 400, { message: engine.refusesStorage });
  }
  engine.created.push(body);
  answer(response, 201, { Id: `made${engine.created.length}`, Warnings: [] });
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body === null ? undefined : JSON.stringify(body));
}
