import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { preciseNow } from '../drive.ts';
import { readBytes } from '../emulator.ts';
import type { Faults } from './faults.ts';
import { type MethodContext, SlackFailure } from './method.ts';
import { methods } from './methods.ts';
import type { SlackTeam, World } from './world.ts';

/** One Web API call as it arrived, kept for assertions. */
export interface Call {
  method: string;
  args: Record<string, string>;
  team: string | undefined;
  /** When it began to arrive, in epoch milliseconds. */
  at: number;
  /** The error code of an `ok: false` answer. */
  error?: string;
}

export interface WebApi {
  calls: Call[];
  violations: string[];
  handle(method: string, request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface WebApiDeps {
  world: World;
  faults: Faults;
  /** Complaints about a call. */
  check(method: string, args: Readonly<Record<string, string>>): string[];
  appToken: string;
  delayMs(): number;
  onCall(call: Call): void;
  contextOf(team: SlackTeam): MethodContext;
}

/** Slack's Web API: HTTP 200 whatever happens but for rate limits, `ok: false` with a code on failure. */
export function createWebApi(deps: WebApiDeps): WebApi {
  const calls: Call[] = [];
  const violations: string[] = [];

  async function handle(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = preciseNow();
    const args = await readArgs(request);
    const token = (request.headers.authorization ?? '').replace(/^Bearer /, '') || (args.token ?? '');
    delete args.token;
    const team = [...deps.world.teams.values()].find((candidate) => candidate.botToken === token);
    const call: Call = { method: name, args, team: team?.id, at };
    calls.push(call);
    deps.onCall(call);
    if (deps.delayMs() > 0) await new Promise((resolve) => setTimeout(resolve, deps.delayMs()));

    const fault = deps.faults.take(name);
    if (fault?.hangUp === 'before') return void request.socket.destroy();
    if (fault?.status !== undefined) {
      const headers: Record<string, string> =
        fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) };
      response.writeHead(fault.status, headers);
      return void response.end('');
    }
    if (fault?.page !== undefined) return void response.writeHead(200).end(fault.page);
    const answer =
      fault?.error === undefined
        ? attempt(call, token, team)
        : {
            ok: false,
            error: fault.error,
            ...(fault.needed === undefined ? {} : { needed: fault.needed, provided: 'none' }),
          };
    if (fault?.hangUp === 'after') return void request.socket.destroy();
    if (answer.ok === false) call.error = String(answer.error);
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      ...(team === undefined ? {} : { 'x-oauth-scopes': team.scopes.join(',') }),
    });
    response.end(JSON.stringify(answer));
  }

  function attempt(call: Call, token: string, team: SlackTeam | undefined): Record<string, unknown> {
    if (call.method === 'apps.connections.open') return connectionsOpen(token);
    const method = methods[call.method];
    if (method === undefined) return { ok: false, error: 'unknown_method' };
    if (team === undefined) return { ok: false, error: token === '' ? 'not_authed' : 'invalid_auth' };
    if (method.scopes.length > 0 && !method.scopes.some((scope) => team.scopes.includes(scope))) {
      return { ok: false, error: 'missing_scope', needed: method.scopes[0], provided: team.scopes.join(',') };
    }
    // The client adds the team to every call; only org-wide tokens need it.
    const { team_id: _teamId, ...args } = call.args;
    violations.push(...deps.check(call.method, args));
    const parsed = method.args.safeParse(args);
    if (!parsed.success) return refuse(call.method, parsed.error);
    try {
      return { ok: true, ...method.run(args, deps.contextOf(team)) };
    } catch (error) {
      if (error instanceof SlackFailure) return { ok: false, error: error.code, ...error.details };
      throw error;
    }
  }

  function refuse(name: string, error: z.ZodError): Record<string, unknown> {
    const code = error.issues.some((issue) => issue.path[0] === 'blocks')
      ? 'invalid_blocks'
      : 'invalid_arguments';
    violations.push(`${name}: ${z.prettifyError(error)}`);
    return {
      ok: false,
      error: code,
      response_metadata: { messages: error.issues.map((issue) => issue.message) },
    };
  }

  function connectionsOpen(token: string): Record<string, unknown> {
    if (token !== deps.appToken)
      return { ok: false, error: token.startsWith('xapp-') ? 'invalid_auth' : 'not_allowed_token_type' };
    const anyTeam = deps.world.teams.values().next().value;
    if (anyTeam === undefined) return { ok: false, error: 'internal_error' };
    return { ok: true, url: deps.contextOf(anyTeam).socketUrl() };
  }

  return { calls, violations, handle };
}

async function readArgs(request: IncomingMessage): Promise<Record<string, string>> {
  const body = (await readBytes(request)).toString('utf8');
  if (request.headers['content-type']?.startsWith('application/json') === true) {
    const fields = z.record(z.string(), z.unknown()).parse(JSON.parse(body === '' ? '{}' : body));
    return Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [
        key,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    );
  }
  return Object.fromEntries(new URLSearchParams(body));
}
