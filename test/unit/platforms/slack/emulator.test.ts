import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type SlackEmulator, startSlackEmulator } from '../../../emulators/slack/slack-emulator.ts';
import type { SlackUserHandle } from '../../../emulators/slack/user.ts';
import { until } from './harness.ts';

let slack: SlackEmulator;
let ann: SlackUserHandle;
beforeEach(async () => {
  slack = await startSlackEmulator();
  ann = slack.addUser('Ann');
});
afterEach(() => slack.close());

const reply = z.looseObject({ ok: z.boolean(), error: z.string().optional() });

async function call(method: string, args: Record<string, string>, token = slack.team.botToken) {
  const answer = await fetch(`${slack.apiRoot}${method}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams(args),
  });
  return {
    status: answer.status,
    body: answer.status === 200 ? reply.parse(await answer.json()) : undefined,
  };
}

async function openSocket(onEnvelope: (envelope: { envelope_id?: string }) => void): Promise<WebSocket> {
  const { body } = await call('apps.connections.open', {}, slack.appToken);
  const socket = new WebSocket(z.string().parse(body?.['url']));
  socket.addEventListener('message', ({ data }) => onEnvelope(JSON.parse(String(data))));
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  return socket;
}

/** The tests of the adapter are worth what the emulator refuses; so it is tested itself. */
describe('the Slack emulator', () => {
  it('answers failures with HTTP 200 and ok: false', async () => {
    expect(await call('chat.postMessage', { channel: 'C404', text: 'x' })).toMatchObject({
      status: 200,
      body: { ok: false, error: 'channel_not_found' },
    });
    expect((await call('auth.test', {}, 'xoxb-wrong')).body?.error).toBe('invalid_auth');
    expect((await call('no.such', {})).body?.error).toBe('unknown_method');
  });

  it.each([
    ['an unknown argument', { text: 'x', colour: 'red' }, 'invalid_arguments'],
    ['a thread_ts of a wrong form', { text: 'x', thread_ts: 'yesterday' }, 'invalid_arguments'],
    ['an unknown block', { text: 'x', blocks: '[{"type":"banner"}]' }, 'invalid_blocks'],
    [
      'too long a Markdown block',
      { text: 'x', blocks: JSON.stringify([{ type: 'markdown', text: 'x'.repeat(12_001) }]) },
      'invalid_blocks',
    ],
    ['blocks that are not JSON', { text: 'x', blocks: '[' }, 'invalid_blocks'],
  ])('refuses %s and notes it', async (_name, args, error) => {
    const { body } = await call('chat.postMessage', { channel: ann.dm().id, ...args });
    expect(body).toMatchObject({ ok: false, error });
    expect(slack.violations().length).toBeGreaterThan(0);
  });

  it('names the missing scope', async () => {
    slack.team.scopes = ['users:read'];
    const { body } = await call('chat.postMessage', { channel: ann.dm().id, text: 'x' });
    expect(body).toMatchObject({ error: 'missing_scope', needed: 'chat:write' });
  });

  it('answers 429 with Retry-After as often as asked', async () => {
    slack.fail('auth.test', { status: 429, retryAfter: 3, times: 2 });
    expect(
      [await call('auth.test', {}), await call('auth.test', {}), await call('auth.test', {})].map(
        ({ status }) => status,
      ),
    ).toEqual([429, 429, 200]);
  });

  it('sends an envelope again after three seconds without an acknowledgement, and not after one', async () => {
    const seen: string[] = [];
    const socket = await openSocket(({ envelope_id: id }) => {
      if (id === undefined) return;
      seen.push(id);
      if (seen.length === 2) socket.send(JSON.stringify({ envelope_id: id }));
    });
    const { receipts } = ann.says('hi');
    await until(() => receipts[0]?.ackMs !== undefined);
    expect(seen).toHaveLength(2);
    expect(new Set(seen).size).toBe(1);
    socket.close();
  });

  it('opens a form by a trigger once only', async () => {
    const { body } = await call('views.open', { trigger_id: 'unknown.U1', view: JSON.stringify(modal) });
    expect(body?.error).toBe('expired_trigger_id');
  });

  it('hands envelopes back in another order when asked', async () => {
    const texts: unknown[] = [];
    const shape = z.object({ payload: z.object({ event: z.object({ text: z.string() }) }) });
    const socket = await openSocket((envelope) => {
      const event = shape.safeParse(envelope);
      if (event.success) texts.push(event.data.payload.event.text);
    });
    slack.hold();
    ann.says('one');
    ann.says('two');
    slack.release({ reversed: true });
    await until(() => texts.length === 2);
    expect(texts).toEqual(['two', 'one']);
    socket.close();
  });
});

const modal = {
  type: 'modal',
  title: { type: 'plain_text', text: 'Deny' },
  blocks: [{ type: 'section', text: { type: 'plain_text', text: 'x' } }],
};
