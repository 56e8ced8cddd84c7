import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  ChatAddress,
  InboundEvent,
  OutboundContent,
  Platform,
  PlatformMemory,
} from '../../../../platforms/platform.ts';
import { createWeb } from '../../../../platforms/web/web.ts';
import { systemClock } from '../../../../src/clock.ts';
import { GatewayError } from '../../../../src/errors.ts';
import { silentLog } from '../../../../src/log.ts';
import { createPlatformMemory } from '../../../support/platform-memory.ts';

const chat: ChatAddress = { platform: 'web', kind: 'dm', chatId: 'chat-1' };
const signal = new AbortController().signal;

interface SentEvent {
  name: string;
  id: string | undefined;
  data: Record<string, unknown>;
}

describe('the web adapter', () => {
  let folder: string;
  let memory: PlatformMemory;
  let web: Platform;
  let received: InboundEvent[];
  let receiveFailure: Error | null;
  const streams: ReadableStreamDefaultReader<Uint8Array>[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hermes-web-'));
    memory = createPlatformMemory();
    received = [];
    receiveFailure = null;
    web = await open();
  });
  afterEach(async () => {
    for (const stream of streams.splice(0)) await stream.cancel();
    await web.disconnect();
    await rm(folder, { recursive: true });
  });

  async function open(admit: (request: Request) => Response | null = () => null): Promise<Platform> {
    const opened = await createWeb({ admit, folder }, { log: silentLog, clock: systemClock, memory });
    await opened.connect(
      {
        async receive(event) {
          if (receiveFailure !== null) throw receiveFailure;
          received.push(event);
        },
        press: async ({ buttonId }) => ({ text: `pressed ${buttonId}`, alert: false }),
        report: () => undefined,
        alive: () => undefined,
      },
      [{ name: 'help', description: 'Help' }],
      signal,
    );
    return opened;
  }

  function call(
    method: 'GET' | 'POST',
    path: string,
    body?: BodyLike,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const url = new URL(path, 'http://127.0.0.1:8642');
    const route = web.routes.find((each) => each.method === method && each.path === url.pathname);
    if (route === undefined) throw new Error(`No route ${method} ${path}`);
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    return route.handle(new Request(url, { method, headers, ...(text !== undefined && { body: text }) }));
  }

  type BodyLike = string | Record<string, unknown>;

  const say = (text: string, id = 'request-0001') =>
    call('POST', '/web/messages', { id, chatId: 'chat-1', text, files: [] });

  async function deliver(content: OutboundContent, key: string): Promise<string> {
    const [payload] = web.render(content);
    if (payload === undefined) throw new Error('rendered to nothing');
    return (await web.deliver(chat, JSON.parse(JSON.stringify(payload)), { key, signal })).messageId;
  }

  const text = (markdown: string): OutboundContent => ({ kind: 'text', markdown });

  /** Follows the chat as a page does; the function gives the next event. */
  async function follow(lastEventId?: string): Promise<() => Promise<SentEvent>> {
    const headers: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const response = await call('GET', '/web/events?chat=chat-1&since=0', undefined, headers);
    const reader = response.body?.getReader();
    if (reader === undefined) throw new Error('no stream');
    streams.push(reader);
    let buffer = '';
    const decoder = new TextDecoder();
    return async () => {
      while (!buffer.includes('\n\n')) {
        const { value, done } = await reader.read();
        if (done) throw new Error('the stream ended');
        buffer += decoder.decode(value, { stream: true });
      }
      const end = buffer.indexOf('\n\n');
      const fields = new Map(
        buffer
          .slice(0, end)
          .split('\n')
          .map((line) => [line.split(': ', 1)[0] ?? '', line.slice(line.indexOf(': ') + 2)]),
      );
      buffer = buffer.slice(end + 2);
      return {
        name: fields.get('event') ?? '',
        id: fields.get('id'),
        data: JSON.parse(fields.get('data') ?? 'null'),
      };
    };
  }

  async function shown(lastEventId?: string): Promise<unknown[]> {
    const { data } = await (await follow(lastEventId))();
    return listOf(data['messages']);
  }

  const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

  it('shows one message for two deliveries with one key, also after a restart', async () => {
    const first = await deliver(text('hello'), 'k1');
    expect(await deliver(text('hello'), 'k1')).toBe(first);
    web = await open();
    expect(await deliver(text('hello'), 'k1')).toBe(first);
    expect(await shown()).toHaveLength(1);
  });

  it('finds what was delivered by its key', async () => {
    const id = await deliver(text('hello'), 'k1');
    const find = (key: string) => web.findDelivered(chat, {}, key, signal);
    expect([await find('k1'), await find('k2')]).toEqual([id, null]);
  });

  it('sends new messages and, of a text that grows, only what it gained', async () => {
    const next = await follow();
    expect((await next()).name).toBe('sync');
    const id = await deliver(text('one'), 'k1');
    expect(await next()).toMatchObject({ name: 'message', id: '1', data: { id, body: { markdown: 'one' } } });
    expect((await next()).name).toBe('chats');
    const [payload = {}] = web.render(text('one two'));
    await web.edit(chat, id, payload, signal);
    expect(await next()).toEqual({ name: 'tail', id: '2', data: { id, revision: 2, from: 3, text: ' two' } });
  });

  it('tells a page that comes back what changed since, edits included, and nothing else', async () => {
    const first = await deliver(text('first'), 'k1');
    await deliver(text('second'), 'k2');
    web = await open();
    const [payload = {}] = web.render(text('first, corrected'));
    await web.edit(chat, first, payload, signal);
    expect(await shown('2')).toMatchObject([{ id: first, body: { markdown: 'first, corrected' } }]);
    expect(await shown('3')).toEqual([]);
  });

  it('gives the whole chat to a page that has seen another state than this', async () => {
    await deliver(text('hello'), 'k1');
    const { data } = await (await follow('999'))();
    expect(data).toMatchObject({ full: true, messages: [{ body: { markdown: 'hello' } }] });
  });

  it('succeeds with an edit that changes nothing, without telling the page', async () => {
    const id = await deliver(text('same'), 'k1');
    const [payload = {}] = web.render(text('same'));
    await web.edit(chat, id, payload, signal);
    expect(await shown('1')).toEqual([]);
  });

  it('refuses to edit what it does not keep', async () => {
    await expect(web.edit(chat, '00000077', { kind: 'text', markdown: 'x' }, signal)).rejects.toMatchObject({
      code: 'platform_refused',
    });
  });

  it('keeps the newest 500 messages of a chat, also on disk', async () => {
    for (let index = 0; index < 505; index += 1) await deliver(text(`m${index}`), `k${index}`);
    expect(await shown()).toHaveLength(500);
    expect(await memory.list('message/chat-1/')).toHaveLength(500);
    web = await open();
    expect((await shown())[0]).toMatchObject({ body: { markdown: 'm5' } });
  });

  it('splits a text beyond its limit and loses nothing of it', () => {
    const markdown = `${'a line of text 😀\n'.repeat(10_000)}end`;
    const payloads = web.render(text(markdown));
    expect(payloads.length).toBeGreaterThan(1);
    expect(payloads.map((payload) => String(payload['markdown'])).join('')).toBe(markdown);
    for (const payload of payloads) expect(String(payload['markdown']).isWellFormed()).toBe(true);
  });

  it('hands what a person says to the gateway and shows it', async () => {
    expect((await say('hello')).status).toBe(200);
    expect(received).toMatchObject([
      {
        eventId: 'said:request-0001',
        kind: 'message',
        chat,
        sender: { id: 'web' },
        text: 'hello',
        addressed: true,
      },
    ]);
    expect(await shown()).toMatchObject([{ body: { kind: 'said', text: 'hello' } }]);
  });

  it('repeats the event id of a request that is sent twice and shows its message once', async () => {
    await say('hello');
    await say('hello');
    expect(new Set(received.map(({ eventId }) => eventId)).size).toBe(1);
    expect(await shown()).toHaveLength(1);
  });

  it('takes back a message that the gateway could not store, and shows it when the next try succeeds', async () => {
    receiveFailure = new GatewayError('store_full', 'The disk is full.');
    const refused = await say('hello');
    expect([refused.status, await refused.json()]).toEqual([503, { error: 'The disk is full.' }]);
    expect(await shown()).toMatchObject([{ body: { kind: 'removed' } }]);
    receiveFailure = null;
    await say('hello');
    expect(await shown()).toMatchObject([{ body: { kind: 'said', text: 'hello' } }]);
  });

  it('answers a press with what the gateway says of it', async () => {
    const body = { id: 'request-0002', chatId: 'chat-1', messageId: '00000001', buttonId: 'a:1:once' };
    expect(await (await call('POST', '/web/presses', body)).json()).toEqual({
      text: 'pressed a:1:once',
      alert: false,
    });
  });

  it.each([
    ['no JSON', '{'],
    ['a chat id that is a path', { id: 'request-0001', chatId: '../x', text: 'a', files: [] }],
    ['no text', { id: 'request-0001', chatId: 'chat-1', files: [] }],
  ])('answers 400 to a message with %s', async (_, body) => {
    expect((await call('POST', '/web/messages', body)).status).toBe(400);
    expect(received).toEqual([]);
  });

  it('lets nobody at any route whom the guard does not admit', async () => {
    web = await open(() => new Response(null, { status: 401 }));
    for (const { method, path } of web.routes) {
      expect([path, (await call(method, path, method === 'POST' ? '{}' : undefined)).status]).toEqual([
        path,
        401,
      ]);
    }
  });

  it('serves every asset that the page names', async () => {
    const page = await (await call('GET', '/')).text();
    const named = [...page.matchAll(/(?:src|href)="(\/web\/[^"]+)"/g)].map(([, path]) => path ?? '');
    for (const path of new Set([...named, '/web/marked.js', '/web/markdown.js'])) {
      expect([path, (await call('GET', path)).status]).toEqual([path, 200]);
    }
  });

  it('keeps an upload for its owner alone and hands it over with the message', async () => {
    const stored = await (await call('POST', '/web/files?name=../../notes.txt', 'hello')).json();
    expect(stored).toMatchObject({ name: 'notes.txt', mimeType: 'text/plain', bytes: 5 });
    const [name = ''] = await readdir(join(folder, 'files'));
    expect((await stat(join(folder, 'files', name))).mode & 0o777).toBe(0o600);
    await call('POST', '/web/messages', { id: 'request-0003', chatId: 'chat-1', text: '', files: [stored] });
    const [attachment] = received[0]?.attachments ?? [];
    if (attachment === undefined) throw new Error('no attachment');
    await web.download(attachment, join(folder, 'copy'), signal);
    expect(await readFile(join(folder, 'copy'), 'utf8')).toBe('hello');
  });

  it('sends a file as a copy that outlives the original, and gives it out as a download that runs nothing', async () => {
    const path = join(folder, 'page.html');
    await writeFile(path, '<script>alert(1)</script>');
    await deliver({ kind: 'file', path, name: 'page.html', as: 'document' }, 'k1');
    await rm(path);
    const [message] = await shown();
    const id = /"id":"([\w-]{24}\.html)"/.exec(JSON.stringify(message))?.[1];
    const answer = await call('GET', `/web/files?id=${id}&name=page.html`);
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment/);
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect(await answer.text()).toBe('<script>alert(1)</script>');
  });

  it('gives out no file but its own', async () => {
    for (const id of ['../web.test.ts', '..%2f..%2fetc%2fpasswd', '']) {
      expect((await call('GET', `/web/files?id=${id}`)).status).toBe(400);
    }
  });

  it('forgets a removed chat with its messages and files', async () => {
    const path = join(folder, 'a.txt');
    await writeFile(path, 'a');
    await say('hello');
    await deliver({ kind: 'file', path, name: 'a.txt', as: 'document' }, 'k1');
    await call('POST', '/web/chats/remove', { chatId: 'chat-1' });
    expect(await memory.list('')).toEqual([]);
    await expect.poll(() => readdir(join(folder, 'files'))).toEqual([]);
  });

  it('shows that the bot works until it is idle', async () => {
    const next = await follow();
    await next();
    await web.showActivity(chat, 'working', signal);
    expect(await next()).toMatchObject({ name: 'activity', data: { working: true } });
    await web.showActivity(chat, 'idle', signal);
    expect(await next()).toMatchObject({ name: 'activity', data: { working: false } });
  });

  it('turns requests away before it is connected and after', async () => {
    await web.disconnect();
    expect((await say('hello')).status).toBe(503);
  });
});
