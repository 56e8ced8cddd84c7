import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { preciseNow } from '../drive.ts';
import type { DescriptionCheck } from './description.ts';
import type { Faults } from './faults.ts';
import { type Call, Refusal, type Route, type RouteContext } from './route.ts';
import { applicationRoutes } from './routes/application.ts';
import { channelRoutes } from './routes/channels.ts';
import { guildRoutes } from './routes/guilds.ts';
import { interactionRoutes } from './routes/interactions.ts';
import { messageRoutes } from './routes/messages.ts';
import type { DiscordAttachment } from './world.ts';

const routes: readonly { route: Route; parts: readonly string[] }[] = [
  ...applicationRoutes,
  ...messageRoutes,
  ...channelRoutes,
  ...guildRoutes,
  ...interactionRoutes,
].map((route) => ({ route, parts: route.path.split('/') }));

/** The route and the values of its path, literal parts before parameters. */
function match(method: string, path: string): { route: Route; params: Record<string, string> } | undefined {
  const given = path.split('/');
  const fitting = routes.filter(
    ({ route, parts }) =>
      route.method === method &&
      parts.length === given.length &&
      parts.every((part, at) => part.startsWith('{') || part === given[at]),
  );
  const literals = (parts: readonly string[]) => parts.filter((part) => !part.startsWith('{')).length;
  const best = fitting.toSorted((a, b) => literals(b.parts) - literals(a.parts))[0];
  if (best === undefined) return undefined;
  const params = best.parts.flatMap((part, at) =>
    part.startsWith('{') ? [[part.slice(1, -1), given[at] ?? '']] : [],
  );
  return { route: best.route, params: Object.fromEntries(params) };
}

export interface RestOptions {
  context: RouteContext;
  faults: Faults;
  check: DescriptionCheck;
  delayMs(): number;
  onCall(call: Call): void;
  /** Calls a bucket takes within its window. */
  bucket(): { limit: number; windowMs: number };
}

export interface Rest {
  /** Every call as `METHOD route`, refused ones too. */
  received: string[];
  calls: Call[];
  violations: string[];
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: URLSearchParams,
  ): Promise<void>;
}

/** The REST half: authorises, validates strictly, counts buckets, injects faults, answers. */
export function createRest({ context, faults, check, delayMs, onCall, bucket }: RestOptions): Rest {
  const calls: Call[] = [];
  const received: string[] = [];
  const violations: string[] = [];
  const buckets = new Map<string, { used: number; resetAt: number }>();

  function countBucket(route: Route, params: Record<string, string>): Record<string, string> {
    const major = params['channel_id'] ?? params['guild_id'] ?? params['webhook_id'] ?? '';
    const key = `${route.method} ${route.path} ${major}`;
    const { limit, windowMs } = bucket();
    const known = buckets.get(key);
    const entry =
      known === undefined || known.resetAt <= Date.now()
        ? { used: 0, resetAt: Date.now() + windowMs }
        : known;
    buckets.set(key, entry);
    const resetAfter = Math.max(0, (entry.resetAt - Date.now()) / 1000);
    const headers = {
      'x-ratelimit-bucket': Buffer.from(`${route.method}${route.path}`).toString('hex').slice(0, 32),
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(Math.max(0, limit - entry.used - 1)),
      'x-ratelimit-reset': String(entry.resetAt / 1000),
      'x-ratelimit-reset-after': resetAfter.toFixed(3),
    };
    if (entry.used >= limit) throw tooMany(resetAfter, false, headers);
    entry.used += 1;
    return headers;
  }

  async function handle(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: URLSearchParams,
  ): Promise<void> {
    const at = preciseNow();
    const method = request.method ?? 'GET';
    const raw = await buffer(request);
    const found = match(method, path);
    if (delayMs() > 0) await new Promise((resolve) => setTimeout(resolve, delayMs()));
    if (found === undefined) {
      violations.push(`${method} ${path}: no such route`);
      return answer(response, new Refusal(404, 0, '404: Not Found'));
    }
    const { route, params } = found;
    received.push(`${method} ${route.path}`);
    const fault = faults.take(`${method} ${route.path}`);
    if (fault?.hangUp === 'before') return void response.destroy();
    try {
      if (fault?.status === 429) throw tooMany(fault.retryAfter ?? 1, fault.global ?? false, {});
      if (fault?.status !== undefined)
        throw new Refusal(fault.status, fault.code ?? 0, `injected ${fault.status}`);
      if (route.open !== true && request.headers.authorization !== `Bot ${context.world.token}`) {
        throw new Refusal(401, 0, '401: Unauthorized');
      }
      const headers = countBucket(route, params);
      const { body, files, contentType } = await readPayload(
        raw,
        request.headers['content-type'] ?? '',
        context,
      );
      const call: Call = { method, route: route.path, path, params, query, body, files, at };
      violations.push(...check({ method, route: route.path, query, contentType, body }));
      calls.push(call);
      const result = route.handle(call, context);
      onCall(call);
      if (fault?.hangUp === 'after') return void response.destroy();
      answer(response, result, headers);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code === 50035) violations.push(`${method} ${route.path}: ${error.message}`);
      answer(response, error);
    }
  }

  return { received, calls, violations, handle };
}

function tooMany(retryAfter: number, global: boolean, headers: Record<string, string>): Refusal {
  return new Refusal(429, 0, 'You are being rate limited.', {
    ...headers,
    'retry-after': String(retryAfter),
    'x-ratelimit-scope': global ? 'global' : 'user',
    ...(global ? { 'x-ratelimit-global': 'true' } : {}),
  });
}

function answer(response: ServerResponse, result: unknown, headers: Record<string, string> = {}): void {
  if (result === undefined) return void response.writeHead(204, headers).end();
  const json = { 'content-type': 'application/json', ...headers };
  if (!(result instanceof Refusal)) return void response.writeHead(200, json).end(JSON.stringify(result));
  const rate =
    result.status === 429
      ? { retry_after: Number(result.headers['retry-after']), global: 'x-ratelimit-global' in result.headers }
      : {};
  response.writeHead(result.status, { ...json, ...result.headers });
  response.end(JSON.stringify({ message: result.message, code: result.code, ...rate }));
}

async function readPayload(raw: Buffer, contentType: string, { world }: RouteContext) {
  const files: DiscordAttachment[] = [];
  const kind = contentType.split(';')[0] ?? '';
  if (raw.length === 0) return { body: undefined, files, contentType: kind };
  if (kind !== 'multipart/form-data')
    return { body: JSON.parse(raw.toString('utf8')), files, contentType: kind };
  const form = await new Response(new Uint8Array(raw), {
    headers: { 'content-type': contentType },
  }).formData();
  for (const [name, part] of form) {
    if (!name.startsWith('files[') || typeof part === 'string') continue;
    const bytes = Buffer.from(await part.arrayBuffer());
    files.push({ id: world.nextId(), name: part.name, mimeType: part.type, bytes });
  }
  const json = form.get('payload_json');
  return { body: typeof json === 'string' ? JSON.parse(json) : {}, files, contentType: kind };
}
