import { createHash, createHmac } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { GatewayError } from '../errors.ts';
import { isLoopback, splitHost } from './host.ts';
import { refusal, signInPage } from './sign-in.ts';
import { sameSecret } from './token.ts';

export interface GuardOptions {
  token: string;
  /** The address that the server binds to. */
  host: string;
  /** Names under which a reverse proxy serves the gateway, such as `chat.example.org`. */
  publicHosts?: readonly string[];
  clock: Clock;
}

/** Decides who may use the pages that belong to the gateway's owner. */
export interface Guard {
  /** Null lets the request go on; otherwise the answer to give instead. */
  admit(request: Request): Response | null;
  /** Null when the request names a host that is ours; keeps out pages of a rebound DNS name. */
  admitHost(request: Request): Response | null;
  /** Answers the sign-in form: the token comes in the body and leaves as a cookie. */
  signIn(request: Request): Promise<Response>;
}

const cookieLifeMs = 90 * 24 * 3_600_000;
const shortestPublicToken = 16;

/**
 * A caller is the owner when he shows the token: as `Authorization: Bearer`, or once as `?token=` (or in the
 * sign-in form), which is exchanged for a cookie. The cookie holds a signature, never the token. Throws
 * `config_invalid` for a token that others on the network could guess.
 */
export function createGuard({ token, host, publicHosts = [], clock }: GuardOptions): Guard {
  if (!isLoopback(host) && token.length < shortestPublicToken) {
    throw new GatewayError(
      'config_invalid',
      `GATEWAY_TOKEN is too short to protect ${host}, an address that other machines reach.`,
      { mend: `Make it at least ${shortestPublicToken} characters, or unset it to have one made.` },
    );
  }
  // Cookies are shared by all ports of a host: the name keeps two gateways on one machine apart.
  const cookieName = `hermes_${createHash('sha256').update(token).digest('hex').slice(0, 8)}`;
  const sign = (expiresAt: string) =>
    createHmac('sha256', token).update(`web cookie ${expiresAt}`).digest('base64url');

  function hasCookie(request: Request): boolean {
    const value = readCookie(request.headers.get('cookie') ?? '', cookieName);
    const [expiresAt = '', signature = ''] = (value ?? '').split('.');
    return sameSecret(signature, sign(expiresAt)) && Number(expiresAt) > clock.now();
  }

  function enter(request: Request, location: string): Response {
    const expiresAt = String(clock.now() + cookieLifeMs);
    const secure = isHttps(request) ? '; Secure' : '';
    const cookie = `${cookieName}=${expiresAt}.${sign(expiresAt)}; Path=/; Max-Age=${cookieLifeMs / 1000}`;
    return new Response(null, {
      status: 303,
      headers: { location, 'set-cookie': `${cookie}; HttpOnly; SameSite=Strict${secure}` },
    });
  }

  function admitHost(request: Request): Response | null {
    const name = splitHost(request.headers.get('host') ?? new URL(request.url).host);
    if (publicHosts.includes(name) || (isLoopback(host) ? isLoopback(name) : name !== '')) return null;
    return refusal(request, 403, `This gateway does not serve the name "${name}".`);
  }

  function admitOrigin(request: Request): Response | null {
    if (request.method === 'GET' || request.method === 'HEAD') return null;
    const origin = request.headers.get('origin');
    // Every browser names the origin of a POST; only a script with the token itself may leave it out.
    const ours =
      origin === null
        ? bearerOf(request) !== null
        : sameOrigin(origin, request.headers.get('host') ?? '') ||
          publicHosts.includes(splitHost(originHost(origin)));
    return ours ? null : refusal(request, 403, 'This request comes from another site.');
  }

  function admitCaller(request: Request): Response | null {
    const bearer = bearerOf(request);
    if (bearer !== null) {
      return sameSecret(bearer, token) ? null : refusal(request, 401, 'The token is wrong.');
    }
    const url = new URL(request.url);
    const shown = request.method === 'GET' ? url.searchParams.get('token') : null;
    const known = hasCookie(request);
    if (shown !== null && (known || sameSecret(shown, token))) {
      url.searchParams.delete('token');
      return enter(request, url.pathname + url.search);
    }
    return known ? null : signInPage(request, shown === null ? 'first' : 'wrong');
  }

  return {
    admitHost,
    admit: (request) => admitHost(request) ?? admitOrigin(request) ?? admitCaller(request),
    async signIn(request) {
      const refused = admitHost(request) ?? admitOrigin(request);
      if (refused !== null) return refused;
      const shown = new URLSearchParams(await request.text()).get('token')?.trim() ?? '';
      return sameSecret(shown, token) ? enter(request, '/') : signInPage(request, 'wrong');
    },
  };
}

function bearerOf(request: Request): string | null {
  const match = /^Bearer\s+(\S+)\s*$/i.exec(request.headers.get('authorization') ?? '');
  return match?.[1] ?? null;
}

function readCookie(header: string, name: string): string | undefined {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);
}

function isHttps(request: Request): boolean {
  return request.url.startsWith('https:') || request.headers.get('x-forwarded-proto') === 'https';
}

function originHost(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : '';
}

function sameOrigin(origin: string, host: string): boolean {
  return host !== '' && originHost(origin) === host.toLowerCase();
}
