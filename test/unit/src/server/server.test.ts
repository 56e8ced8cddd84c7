import { afterEach, describe, expect, it } from 'vitest';
import type { PlatformRoute } from '../../../../platforms/platform.ts';
import { systemClock } from '../../../../src/clock.ts';
import { silentLog } from '../../../../src/log.ts';
import { createGuard } from '../../../../src/server/guard.ts';
import { createMetrics } from '../../../../src/server/metrics.ts';
import { createServer, type GatewayServer, type ServerOptions } from '../../../../src/server/server.ts';

const token = 'a-token-for-tests-only';

describe('the HTTP server', () => {
  const running: GatewayServer[] = [];
  afterEach(async () => {
    for (const server of running.splice(0)) await server.stop();
  });

  async function start(change: Partial<ServerOptions> = {}): Promise<GatewayServer> {
    const server = createServer({
      host: '127.0.0.1',
      port: 0,
      guard: createGuard({ token, host: '127.0.0.1', clock: systemClock }),
      notReady: async () => [],
      metrics: createMetrics(),
      routes: [],
      log: silentLog,
      ...change,
    });
    await server.start();
    running.push(server);
    return server;
  }

  const echo: PlatformRoute = {
    method: 'POST',
    path: '/echo',
    handle: async (request) => new Response(await request.text()),
  };

  it('says that it lives and that it is ready', async () => {
    const { url } = await start();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready' });
  });

  it('says why it is not ready, a failing check included', async () => {
    const { url } = await start({ notReady: async () => ['telegram is connecting'] });
    const answer = await fetch(`${url}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { status: 'not ready', reasons: ['telegram is connecting'] },
    ]);
    const broken = await start({ notReady: () => Promise.reject(new Error('the store does not answer')) });
    expect(await (await fetch(`${broken.url}/readyz`)).text()).toContain('the store does not answer');
  });

  it('serves metrics to this machine, and to one that comes through a proxy only with the token', async () => {
    const { url } = await start();
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('process_resident_memory_bytes');
    const forwarded = { 'x-forwarded-for': '203.0.113.9' };
    expect((await fetch(`${url}/metrics`, { headers: forwarded })).status).toBe(401);
    const known = { ...forwarded, authorization: `Bearer ${token}` };
    expect((await fetch(`${url}/metrics`, { headers: known })).status).toBe(200);
  });

  it('mounts the routes of platforms and protects every answer by headers', async () => {
    const { url } = await start({ routes: [echo] });
    const answer = await fetch(`${url}/echo`, { method: 'POST', body: 'hello' });
    expect(await answer.text()).toBe('hello');
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'/);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await fetch(`${url}/nothing`)).status).toBe(404);
  });

  it('refuses a body over the limit of its route, announced or not', async () => {
    const { url } = await start({ routes: [{ ...echo, maxBodyBytes: 10 }] });
    const post = (body: string | ReadableStream, init: object = {}) =>
      fetch(`${url}/echo`, { method: 'POST', body, ...init });
    expect((await post('0123456789')).status).toBe(200);
    expect((await post('01234567890')).status).toBe(413);
    expect((await post(new Blob(['01234567890']).stream(), { duplex: 'half' })).status).toBe(413);
  });

  it('never gathers more than the default of a body whose length is not announced', async () => {
    const { url } = await start({ routes: [{ ...echo, maxBodyBytes: 50_000_000 }] });
    const body = new Blob([new Uint8Array(2 * 1024 * 1024)]).stream();
    const answer = await fetch(`${url}/echo`, { method: 'POST', body, duplex: 'half' });
    expect(answer.status).toBe(413);
  });

  it('answers a failing route without its inner details', async () => {
    const failing: PlatformRoute = { ...echo, handle: () => Promise.reject(new Error('secret detail')) };
    const { url } = await start({ routes: [failing] });
    const answer = await fetch(`${url}/echo`, { method: 'POST' });
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('secret detail');
  });

  it('names the port that is in use and what to do', async () => {
    const { url } = await start();
    const port = Number(new URL(url).port);
    await expect(start({ port })).rejects.toMatchObject({
      code: 'port_in_use',
      message: expect.stringContaining(String(port)),
      mend: expect.stringContaining('GATEWAY_PORT'),
    });
  });

  it('refuses to listen beyond this machine without a token', () => {
    expect(() =>
      createServer({
        host: '0.0.0.0',
        port: 0,
        guard: null,
        notReady: async () => [],
        metrics: createMetrics(),
        routes: [],
        log: silentLog,
      }),
    ).toThrow(
      expect.objectContaining({ code: 'config_invalid', mend: expect.stringContaining('GATEWAY_TOKEN') }),
    );
  });

  it('stops although a stream is open', async () => {
    const endless: PlatformRoute = {
      method: 'GET',
      path: '/endless',
      handle: async () => new Response(new ReadableStream()),
    };
    const server = await start({ routes: [endless] });
    const answer = fetch(`${server.url}/endless`).catch(() => 'closed');
    await fetch(`${server.url}/healthz`);
    await server.stop();
    await answer;
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  });
});
