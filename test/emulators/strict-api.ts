import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { sleep, systemClock } from '../../src/clock.ts';
import { answerJson, createFaults, type Faults, type HttpHost, readBytes, startHttp } from './emulator.ts';

/** One method of an API: what it takes, nothing else, and what it answers. */
export interface RouteDefinition<Q, B> {
  /** For faults and for the list of calls. */
  name: string;
  method: string;
  /** Named groups are the call's `params`. */
  path: RegExp;
  query: z.ZodType<Q>;
  /** Default: no body at all. */
  body?: z.ZodType<B>;
  /** A body that is not JSON: its type, which must be the request's. */
  raw?: string;
  answer(call: { params: Params; query: Q; body: B; request: Request }): Promise<StrictAnswer>;
}

type Params = Readonly<Record<string, string>>;

export interface StrictRoute {
  name: string;
  method: string;
  path: RegExp;
  /** Null where the request is not what the route takes; then `problem` is told first. */
  serve(
    params: Params,
    query: unknown,
    request: Request,
    problem: (text: string) => void,
  ): Promise<StrictAnswer | null>;
}

export type StrictAnswer =
  | { status: number; json: unknown; headers?: Record<string, string> }
  | { status: number; text: string; type: string };

export interface StrictApi extends HttpHost {
  /** What no client that knows the API would have asked; must be empty. */
  violations: string[];
  /** Names of the routes that were called, in order. */
  calls: string[];
  faults: Faults;
}

export interface StrictOptions {
  /** The bearer tokens that are known, and whether each may do everything. */
  tokens: ReadonlyMap<string, 'ok' | 'forbidden'>;
  routes: readonly StrictRoute[];
  /** How the service words a refusal. */
  refusal(status: number, message: string): unknown;
}

const noBody = z.undefined();

/** A route that reads query and body by its shapes before it answers. */
export function route<Q, B>(definition: RouteDefinition<Q, B> & { body: z.ZodType<B> }): StrictRoute;
export function route<Q>(definition: Omit<RouteDefinition<Q, undefined>, 'body'>): StrictRoute;
export function route<Q, B>(definition: RouteDefinition<Q, B | undefined>): StrictRoute {
  const { name, method, path, raw, body: shape = noBody } = definition;
  return {
    ...{ name, method, path },
    async serve(params, asked, request, problem) {
      const query = definition.query.safeParse(asked);
      const body = shape.safeParse(await bodyOf(request, raw, problem));
      if (query.success && body.success) {
        return definition.answer({ params, query: query.data, body: body.data, request });
      }
      problem(`${query.error?.message ?? ''}${body.error?.message ?? ''}`);
      return null;
    },
  };
}

async function bodyOf(
  request: Request,
  raw: string | undefined,
  problem: (text: string) => void,
): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (raw !== undefined) {
    if (!type.startsWith(raw)) problem(`the body is ${type}, not ${raw}`);
    return undefined;
  }
  const text = await request.clone().text();
  if (text === '') return undefined;
  if (!type.startsWith('application/json')) problem(`the body is ${type}, not JSON`);
  return JSON.parse(text);
}

/** A server that refuses, and remembers, whatever its routes don't describe. */
export async function startStrictApi(options: StrictOptions): Promise<StrictApi> {
  const violations: string[] = [];
  const calls: string[] = [];
  const faults = createFaults();

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await readBytes(incoming);
    const url = new URL(incoming.url ?? '/', 'http://emulator');
    const refuse = (status: number, message: string, isViolation = true) => {
      if (isViolation) violations.push(`${incoming.method} ${url.pathname}${url.search}: ${message}`);
      answerJson(response, status, options.refusal(status, message));
    };
    const token = /^Bearer (.+)$/.exec(incoming.headers.authorization ?? '')?.[1];
    if (token === undefined) return refuse(401, 'no bearer token');
    const right = options.tokens.get(token);
    if (right === undefined) return refuse(401, `unknown token ${token}`, false);
    if (right === 'forbidden') return refuse(403, `the token ${token} may not do this`, false);
    const found = options.routes.find(
      ({ method, path }) => method === incoming.method && path.test(url.pathname),
    );
    if (found === undefined) return refuse(404, 'no such method');
    calls.push(found.name);
    const fault = faults.take(found.name);
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'drop' && fault.when === 'before') return void response.destroy();
    if (fault?.kind === 'delay') await sleep(systemClock, fault.ms);
    if (fault?.kind === 'fail') {
      if (fault.retryAfter !== undefined) response.setHeader('retry-after', String(fault.retryAfter));
      return refuse(fault.status, fault.description ?? 'planned', false);
    }
    const request = new Request('http://emulator', {
      method: 'POST',
      headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]),
      body: Uint8Array.from(bytes),
    });
    let problem = '';
    const query = Object.fromEntries(url.searchParams);
    const params = { ...found.path.exec(url.pathname)?.groups };
    const answer = await found.serve(params, query, request, (text) => {
      problem += text;
    });
    if (answer === null || problem !== '') return refuse(400, problem);
    if (fault?.kind === 'drop') return void response.destroy();
    if ('text' in answer)
      return void response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.text);
    for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
    answerJson(response, answer.status, answer.json);
  }

  const host = await startHttp(handle);
  return { ...host, violations, calls, faults };
}
