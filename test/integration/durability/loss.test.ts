import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors.ts';
import type { OutboxRow } from '../../../src/store/outbox.ts';
import { type Harness, type HarnessOptions, startHarness } from '../../support/gateway-harness.ts';
import { createMemoryPlatform } from '../../support/memory-platform.ts';
import { createScriptedModel } from '../../support/scripted-model.ts';
import { createLedgerTools, type LedgerTools, never } from './ledger-tools.ts';

/** What people report lost, doubled or repeated after a restart, and what is right. */
describe('loss, duplicates and restarts', () => {
  let harness: Harness;
  let tools: LedgerTools;
  beforeEach(() => {
    tools = createLedgerTools();
  });
  afterEach(() => harness.dispose());

  async function start(options: Omit<HarnessOptions, 'register'>): Promise<Harness> {
    const config = options.config ?? { display: { tool_progress: 'off' } };
    harness = await startHarness({ ...options, config, register: tools.register });
    return harness;
  }
  const running = () => expect.poll(async () => (await harness.store.read.sessions.counts()).running);
  const shown = () => expect.poll(() => harness.platform.texts());
  /** Says something that must be the only answer if nothing before it is answered again. */
  async function saysLast(text: string, answers: string[]): Promise<void> {
    await harness.platform.says(text);
    await shown().toEqual(answers);
  }

  it('waits for the answer that is being written, and sends it once', async () => {
    const gate = Promise.withResolvers<void>();
    await start({ model: createScriptedModel([{ wait: gate.promise, say: 'slow answer' }]) });
    await harness.platform.says('think');
    await running().toBe(1);
    const stopped = harness.gateway.stop(10_000);
    gate.resolve();
    await stopped;
    expect(harness.platform.texts()).toEqual(['slow answer']);
    await harness.restart(createScriptedModel(['next']));
    await saysLast('hi', ['slow answer', 'next']);
  });

  it('goes on after the start with what the stop cut off, and answers once', async () => {
    await start({ model: createScriptedModel([{ wait: never, say: 'never' }]) });
    await harness.platform.says('think');
    await running().toBe(1);
    await harness.restart(createScriptedModel(['after the restart', 'next']));
    await shown().toEqual(['after the restart']);
    await saysLast('hi', ['after the restart', 'next']);
  });

  it('drops a message that is delivered again after a restart', async () => {
    await start({ model: createScriptedModel(['once']) });
    await harness.platform.says('hi', { eventId: 'update-7' });
    await shown().toEqual(['once']);
    await harness.restart(createScriptedModel(['next']));
    await harness.platform.says('hi', { eventId: 'update-7' });
    await saysLast('another', ['once', 'next']);
  });

  it('sends nothing again that arrived without its mark, where the platform can be asked', async () => {
    const { platform } = await start({
      model: createScriptedModel([{ call: 'run', args: { command: 'echo one' } }, 'done']),
    });
    const deliver = platform.deliver;
    const arrived = new Map<string, string>();
    platform.deliver = async (chat, payload, options) => {
      const { messageId } = await deliver(chat, payload, options);
      arrived.set(options.key, messageId);
      return new Promise(() => undefined);
    };
    platform.findDelivered = async (_chat, _payload, key) => arrived.get(key) ?? null;
    await platform.says('go');
    await shown().toEqual(['done']);
    platform.deliver = deliver;
    await harness.restart(createScriptedModel(['next']));
    await saysLast('hi', ['done', 'next']);
    expect(tools.ledger).toEqual(['echo one']);
  });

  it('runs no tool again after a kill between the answer and its delivery', async () => {
    const { platform } = await start({
      model: createScriptedModel([{ call: 'run', args: { command: 'echo one' } }, 'done']),
    });
    const deliver = platform.deliver;
    platform.deliver = () => new Promise(() => undefined);
    await platform.says('go');
    await expect.poll(() => harness.store.read.outbox.depth()).toBe(1);
    platform.deliver = deliver;
    await harness.restart(createScriptedModel([]));
    await shown().toEqual(['done']);
    expect(tools.ledger).toEqual(['echo one']);
  });

  it('tells the model that the outcome of a cut-off call is unknown, and does not run it again', async () => {
    await start({ model: createScriptedModel([{ call: 'hang', args: { command: 'deploy' } }]) });
    await harness.platform.says('deploy');
    await expect.poll(() => tools.hanging.length).toBe(1);
    const model = createScriptedModel(['I will look first']);
    await harness.restart(model);
    await shown().toEqual(['I will look first']);
    expect(tools.ledger).toEqual(['deploy']);
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('outcome unknown');
  });

  it('gives up at once what the platform refuses for good, and lists it', async () => {
    const gone = new GatewayError('chat_gone', 'bot was blocked by the user');
    const { platform } = await start({ model: createScriptedModel(['hello']) });
    platform.failNext.push(gone);
    await platform.says('hi');
    const dead = () => harness.store.read.outbox.dead(10);
    await expect.poll(dead).toMatchObject([{ attempts: 1, lastError: 'bot was blocked by the user' }]);
    await harness.restart(createScriptedModel(['next']));
    await saysLast('hi again', ['next']);
    expect(await dead()).toHaveLength(1);
  });

  it("sends no answer that is older than a day, and keeps today's", async () => {
    await start({ model: createScriptedModel(['one']) });
    await harness.platform.says('hi');
    await shown().toEqual(['one']);
    const sent = await lastRow();
    await harness.restart(createScriptedModel([]), async (store) => {
      const text = (markdown: string) => ({ content: JSON.stringify({ kind: 'text', markdown }) });
      const add = (key: string, hoursAgo: number) =>
        store.transaction((tables) =>
          tables.outbox.add({
            ...sent,
            key,
            op: { kind: 'send', payload: text(key) },
            createdAt: Date.now() - hoursAgo * 3_600_000,
          }),
        );
      await add('too old', 25);
      await add('of today', 1);
    });
    await shown().toEqual(['one', 'of today']);
    expect((await harness.store.read.outbox.dead(1))[0]?.lastError).toBe('too old to send');
  });

  async function lastRow(): Promise<OutboxRow> {
    const row = await harness.store.read.outbox.get(1);
    if (!row) throw new Error('nothing was sent');
    return row;
  }

  it('answers all five messages that come while it is busy, in order', async () => {
    const gate = Promise.withResolvers<void>();
    const model = createScriptedModel([{ wait: gate.promise, say: '0' }, '1', '2', '3', '4', '5']);
    await start({ model, config: { display: { busy_input_mode: 'queue', busy_ack_enabled: false } } });
    await harness.platform.says('first');
    await running().toBe(1);
    for (const text of ['a', 'b', 'c', 'd', 'e']) await harness.platform.says(text);
    gate.resolve();
    await shown().toEqual(['0', '1', '2', '3', '4', '5']);
    for (const text of ['a', 'b', 'c', 'd', 'e'])
      expect(model.requests.filter(({ messages }) => lastSaid(messages) === text)).toHaveLength(1);
  });

  it('says that the line is full instead of taking a message in, once', async () => {
    const gate = Promise.withResolvers<void>();
    await start({
      model: createScriptedModel([{ wait: gate.promise, say: 'one' }, 'two']),
      config: {
        display: { busy_input_mode: 'queue', busy_ack_enabled: false },
        limits: { queued_per_session: 1 },
      },
    });
    await harness.platform.says('first');
    await running().toBe(1);
    await harness.platform.says('second');
    for (let times = 0; times < 2; times += 1) await harness.platform.says('third', { eventId: 'third' });
    await shown().toEqual([expect.stringContaining('was not taken')]);
    gate.resolve();
    await shown().toEqual([expect.stringContaining('was not taken'), 'one', 'two']);
  });

  it('fetches after the start a document that came before the kill', async () => {
    const { platform } = await start({ model: createScriptedModel([]) });
    const asked: string[] = [];
    platform.download = ({ ref }) => {
      asked.push(ref);
      return never;
    };
    const attachment = { kind: 'document', ref: 'file-1', name: 'notes.txt' } as const;
    await platform.says('read this', { attachments: [attachment] });
    await expect.poll(() => asked).toEqual(['file-1']);
    platform.download = async ({ ref }, path) => writeFile(path, `content of ${ref}`);
    const model = createScriptedModel(['read']);
    await harness.restart(model);
    await shown().toEqual(['read']);
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('content of file-1');
  });

  it('says so when a document cannot be fetched any more', async () => {
    const model = createScriptedModel(['I cannot open it']);
    const { platform } = await start({ model });
    platform.download = () => Promise.reject(new GatewayError('platform_refused', 'the file is gone'));
    const attachment = { kind: 'document', ref: 'file-1', name: 'notes.txt' } as const;
    await platform.says('read this', { attachments: [attachment] });
    await shown().toEqual(['I cannot open it']);
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('could not be fetched: the file is gone');
  });

  it('takes a message in while its turn still runs, and answers four deliveries once', async () => {
    const gate = Promise.withResolvers<void>();
    await start({ model: createScriptedModel([{ wait: gate.promise, say: 'once' }, 'next']) });
    for (let times = 0; times < 4; times += 1) await harness.platform.says('hi', { eventId: 'same' });
    await running().toBe(1);
    gate.resolve();
    await shown().toEqual(['once']);
    await saysLast('another', ['once', 'next']);
  });

  it('keeps the order of a chat when the first of two answers has to wait', async () => {
    const { platform } = await start({ model: createScriptedModel(['one', 'two']) });
    platform.failNext.push(
      new GatewayError('platform_rate_limited', 'slow down', { retryable: true, retryAfterMs: 200 }),
    );
    await platform.says('1');
    await expect.poll(() => harness.store.read.outbox.depth()).toBe(1);
    await platform.says('2');
    await shown().toEqual(['one', 'two']);
  });

  it('sends once more, and no more, what had an unknown outcome on a platform that cannot be asked', async () => {
    const platform = createMemoryPlatform();
    const unknown = () =>
      new GatewayError('send_unknown', 'socket closed', { retryable: true, retryAfterMs: 10 });
    await start({ model: createScriptedModel(['one', 'two']), platform });
    platform.failNext.push(unknown());
    await platform.says('1');
    await shown().toEqual(['one']);
    platform.failNext.push(unknown(), unknown(), unknown());
    await platform.says('2');
    const dead = () => harness.store.read.outbox.dead(10);
    await expect.poll(dead).toMatchObject([{ attempts: 2 }]);
    // The third failure meets what the chat is told then.
    await shown().toEqual(['one', '⚠️ A part of my answer could not be delivered here.']);
  });
});

function lastSaid(messages: readonly { role: string; content?: unknown }[]): unknown {
  return messages.findLast((message) => message.role === 'user')?.content;
}
