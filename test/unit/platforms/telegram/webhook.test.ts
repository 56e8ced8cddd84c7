import { describe, expect, test } from 'vitest';
import type { PlatformRoute } from '../../../../platforms/platform.ts';
import { withDefaults } from '../../../../platforms/telegram/options.ts';
import { readBytes, startHttp } from '../../../emulators/emulator.ts';
import { connect, unconnectedRig } from './connected-rig.ts';

const secret = 'a-secret-of-the-webhook';

/** Serves a route as the gateway's server does. */
async function serve(route: PlatformRoute) {
  return startHttp(async (request, response) => {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers))
      if (typeof value === 'string') headers.set(name, value);
    const body = new Uint8Array(await readBytes(request));
    const answer = await route.handle(new Request('http://gateway/', { method: 'POST', headers, body }));
    response.writeHead(answer.status).end();
  });
}

async function webhookRig() {
  // The address must be known before the adapter is made, and the route after.
  let route: PlatformRoute | undefined;
  const host = await serve({
    method: 'POST',
    path: '/',
    handle: async (request) => route?.handle(request) ?? new Response(null, { status: 503 }),
  });
  const rig = await unconnectedRig({ webhook: { url: `${host.url}/webhooks/telegram`, secret } });
  [route] = rig.platform.routes;
  return { ...rig, host, route };
}

describe('a webhook', () => {
  test('delivers what Telegram posts, once it is set', async () => {
    const rig = await webhookRig();
    await connect(rig);
    rig.ann.says('by webhook');
    await rig.sink.event('by webhook');
    await rig.emulator.until.holds(
      'the update to be confirmed',
      () => rig.emulator.delivery.pending().length === 0,
    );
    await rig.host.close();
  });

  test('is answered 200 only when the update is stored, so Telegram sends it again', async () => {
    const rig = await webhookRig();
    await connect(rig);
    rig.sink.refuse(2);
    rig.ann.says('in the end');
    await rig.sink.event('in the end');
    await rig.host.close();
  });

  test('refuses callers without the secret', async () => {
    const rig = await webhookRig();
    await connect(rig);
    const post = (headers: Record<string, string>) =>
      fetch(rig.host.url, { method: 'POST', headers, body: JSON.stringify({ update_id: 1, message: {} }) });
    expect((await post({})).status).toBe(401);
    expect((await post({ 'x-telegram-bot-api-secret-token': 'guess' })).status).toBe(401);
    expect(rig.sink.events).toEqual([]);
    await rig.host.close();
  });

  test('refuses what is no update', async () => {
    const rig = await webhookRig();
    await connect(rig);
    const headers = { 'x-telegram-bot-api-secret-token': secret };
    expect((await fetch(rig.host.url, { method: 'POST', headers, body: 'garbage' })).status).toBe(400);
    await rig.host.close();
  });

  test('needs a secret, and gets the usual path when its address has none', () => {
    const withWebhook = (url: string, its: string) =>
      withDefaults({ token: 't', webhook: { url, secret: its } });
    expect(() => withWebhook('https://bot.example', '')).toThrow(/webhook_secret/);
    expect(withWebhook('https://bot.example', 's').webhook?.url).toBe(
      'https://bot.example/webhooks/telegram',
    );
  });
});
