import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { createGuard, type Guard } from '../../../../src/server/guard.ts';

const token = 'correct-horse-battery';
const home = 'http://127.0.0.1:8642';

function guardOn(host = '127.0.0.1', publicHosts: string[] = []): Guard {
  return createGuard({ token, host, publicHosts, clock: systemClock });
}

function request(path: string, headers: Record<string, string> = {}, init: RequestInit = {}): Request {
  return new Request(home + path, { ...init, headers: { host: '127.0.0.1:8642', ...headers } });
}

function cookieOf(response: Response | null): string {
  return response?.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
}

describe('the guard', () => {
  it('exchanges the token of the printed URL for a cookie and an address without it', () => {
    const answer = guardOn().admit(request(`/?token=${token}&a=1`));
    expect(answer?.status).toBe(303);
    expect(answer?.headers.get('location')).toBe('/?a=1');
    expect(answer?.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict$/);
    expect(answer?.headers.get('set-cookie')).not.toContain(token);
  });

  it('marks the cookie as secure when it is served by HTTPS', () => {
    const answer = guardOn().admit(request(`/?token=${token}`, { 'x-forwarded-proto': 'https' }));
    expect(answer?.headers.get('set-cookie')).toContain('; Secure');
  });

  it('lets the cookie in, and not a forged one nor one that has run out', () => {
    const guard = guardOn();
    const cookie = cookieOf(guard.admit(request(`/?token=${token}`)));
    expect(guard.admit(request('/', { cookie }))).toBeNull();
    expect(guard.admit(request('/', { cookie: cookie.replace(/=\d/, '=9') }))?.status).toBe(401);
    const later = createGuard({
      token,
      host: '127.0.0.1',
      clock: { ...systemClock, now: () => Date.now() + 91 * 86_400_000 },
    });
    expect(later.admit(request('/', { cookie }))?.status).toBe(401);
  });

  it('does not take the cookie of a gateway with another token', () => {
    const other = createGuard({ token: 'another-token-entirely', host: '127.0.0.1', clock: systemClock });
    const cookie = cookieOf(guardOn().admit(request(`/?token=${token}`)));
    expect(other.admit(request('/', { cookie }))?.status).toBe(401);
  });

  it('lets a program in by the bearer token and refuses a wrong one', () => {
    const guard = guardOn();
    expect(guard.admit(request('/', { authorization: `Bearer ${token}` }))).toBeNull();
    expect(guard.admit(request('/', { authorization: 'Bearer guess' }))?.status).toBe(401);
  });

  it('shows a person the sign-in form and a program the reason', async () => {
    const page = guardOn().admit(request('/', { accept: 'text/html' }));
    expect(page?.status).toBe(401);
    expect(await page?.text()).toContain('<form method="post" action="/sign-in">');
    expect(await guardOn().admit(request('/web/events'))?.json()).toEqual({
      error: expect.stringContaining('Sign in'),
    });
  });

  it('refuses a host name that is not its own on loopback, as a rebound DNS name would bring', () => {
    const guard = guardOn();
    const bearer = { authorization: `Bearer ${token}` };
    expect(guard.admit(request('/', { ...bearer, host: 'evil.example:8642' }))?.status).toBe(403);
    for (const host of ['localhost:9000', '[::1]:8642', '127.0.0.1']) {
      expect(guard.admit(request('/', { ...bearer, host }))).toBeNull();
    }
  });

  it('takes the host names that a reverse proxy serves it under', () => {
    const guard = guardOn('127.0.0.1', ['chat.example.org']);
    expect(
      guard.admit(request('/', { authorization: `Bearer ${token}`, host: 'chat.example.org' })),
    ).toBeNull();
  });

  it.each([
    ['another site', 'https://evil.example', 403],
    ['another port of this host', 'http://127.0.0.1:3000', 403],
    ['a page without an origin', 'null', 403],
    ['its own page', home, undefined],
  ])('answers a POST from %s', (_, origin, status) => {
    const guard = guardOn();
    const cookie = cookieOf(guard.admit(request(`/?token=${token}`)));
    expect(guard.admit(request('/web/messages', { cookie, origin }, { method: 'POST' }))?.status).toBe(
      status,
    );
  });

  it('refuses a POST by cookie that names no origin, and lets a program post by the token', () => {
    const guard = guardOn();
    const cookie = cookieOf(guard.admit(request(`/?token=${token}`)));
    expect(guard.admit(request('/', { cookie }, { method: 'POST' }))?.status).toBe(403);
    expect(guard.admit(request('/', { authorization: `Bearer ${token}` }, { method: 'POST' }))).toBeNull();
  });

  it('signs in by the form and refuses a wrong token there', async () => {
    const guard = guardOn();
    const form = (value: string) =>
      request(
        '/sign-in',
        { origin: home, accept: 'text/html' },
        { method: 'POST', body: new URLSearchParams({ token: value }) },
      );
    expect((await guard.signIn(form(token))).status).toBe(303);
    const refused = await guard.signIn(form('guess'));
    expect(refused.status).toBe(401);
    expect(refused.headers.get('set-cookie')).toBeNull();
  });

  it('refuses a token that others on the network could guess', () => {
    expect(() => createGuard({ token: 'short', host: '0.0.0.0', clock: systemClock })).toThrow(/too short/);
    expect(() => createGuard({ token: 'short', host: '127.0.0.1', clock: systemClock })).not.toThrow();
  });
});
