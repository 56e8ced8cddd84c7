import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlatformRoute } from '../../../../platforms/platform.ts';
import { readBytes } from '../../../emulators/emulator.ts';
import { sign } from '../../../emulators/slack/delivery.ts';
import type { SlackUserHandle } from '../../../emulators/slack/user.ts';
import { type Bench, never, startBench, until } from './harness.ts';

let bench: Bench;
let server: Server;
let ann: SlackUserHandle;

/** What the gateway's own server does with a route. */
function serve(route: PlatformRoute): Promise<Server> {
  const started = createServer(async (request, response) => {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
    const body = await readBytes(request);
    const answer = await route.handle(
      new Request(`http://gateway${route.path}`, { method: 'POST', headers, body }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  return new Promise((resolve) => started.listen(0, '127.0.0.1', () => resolve(started)));
}

function routeOf({ platform }: Bench): PlatformRoute {
  const [route] = platform.routes;
  if (route === undefined) throw new Error('the platform has no route');
  return route;
}

beforeEach(async () => {
  bench = await startBench({ appToken: '', signingSecret: 'emulated-signing-secret' });
  server = await serve(routeOf(bench));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  bench.slack.useHttp({
    url: `http://127.0.0.1:${port}/slack/events`,
    signingSecret: bench.slack.signingSecret,
  });
  ann = bench.slack.addUser('Ann');
});
afterEach(async () => {
  await bench.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('without a socket, signed requests', () => {
  it('bring messages, and no socket is opened', async () => {
    const { receipts } = ann.says('hello');
    expect((await until(() => bench.sink.events[0])).text).toBe('hello');
    await until(() => receipts[0]?.ackMs !== undefined);
    expect(bench.slack.connections()).toBe(0);
    expect(bench.sink.states.at(-1)).toEqual({ state: 'connected', account: 'Acme' });
  });

  it('bring presses, forms and commands', async () => {
    const chat = {
      platform: 'slack',
      kind: 'dm' as const,
      chatId: ann.dm().id,
      workspaceId: bench.slack.team.id,
    };
    const buttons = [[{ id: 'b', label: 'Deny', style: 'danger' as const, askInput: 'Why?' }]];
    const card = { title: 'Run?', tone: 'warning' as const, blocks: [], buttons };
    await bench.platform.deliver(chat, bench.platform.render({ kind: 'card', card })[0] ?? {}, {
      key: 'k',
      signal: never,
    });
    const [shown] = ann.botShows();
    if (shown === undefined) throw new Error('no card');
    ann.presses('Deny', shown);
    await until(() => bench.slack.world.views.size === 1);
    ann.submits('no');
    expect(await until(() => bench.sink.presses[0])).toMatchObject({ buttonId: 'b', input: 'no' });
    ann.types('/hermes', 'status');
    expect((await until(() => bench.sink.events[0])).text).toBe('/status');
    await until(() => bench.slack.receipts.every(({ ackMs }) => ackMs !== undefined));
    expect(bench.slack.violations()).toEqual([]);
  });

  it('are sent again by Slack when the event was not stored', async () => {
    bench.sink.refuseNext = 1;
    const { receipts } = ann.says('important');
    await until(() => receipts[0]?.attempts === 2 && receipts[0].ackMs !== undefined);
    expect(bench.sink.events.map(({ text }) => text)).toEqual(['important']);
  });
});

describe('the signed endpoint', () => {
  const post = (body: string, headers: Record<string, string>) =>
    routeOf(bench).handle(new Request('http://gateway/slack/events', { method: 'POST', body, headers }));
  const signed = (body: string, atMs = Date.now(), secret = bench.slack.signingSecret) => {
    const stamp = String(Math.floor(atMs / 1000));
    return {
      'content-type': 'application/json',
      'x-slack-request-timestamp': stamp,
      'x-slack-signature': sign(secret, stamp, body),
    };
  };
  const hello = JSON.stringify({ type: 'url_verification', challenge: 'abc' });

  it('answers the URL verification', async () => {
    const answer = await post(hello, signed(hello));
    expect(await answer.json()).toEqual({ challenge: 'abc' });
  });

  it.each([
    ['with a wrong signature', () => signed(hello, Date.now(), 'wrong')],
    ['older than five minutes', () => signed(hello, Date.now() - 301_000)],
    ['from the future', () => signed(hello, Date.now() + 301_000)],
    ['without a signature', () => ({})],
    ['with a signature of another body', () => signed('{}')],
  ])('refuses a request %s', async (_name, headers) => {
    expect((await post(hello, headers())).status).toBe(401);
    expect(bench.sink.events).toEqual([]);
  });

  it('refuses a body that it cannot read', async () => {
    expect((await post('{', signed('{'))).status).toBe(400);
  });

  it('has Slack try again while the platform is not connected', async () => {
    await bench.platform.disconnect();
    const body = JSON.stringify({ type: 'event_callback' });
    expect((await post(body, signed(body))).status).toBe(503);
  });
});
