import { afterEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors.ts';
import { type Harness, type HarnessOptions, startHarness } from '../../support/gateway-harness.ts';
import { ledgerTool } from '../../support/ledger-tool.ts';
import { createScriptedModel } from '../../support/scripted-model.ts';

describe('a conversation through the gateway', () => {
  let harness: Harness | null = null;
  const ledger: string[] = [];
  const start = async (options: Omit<HarnessOptions, 'register'>) => {
    ledger.length = 0;
    harness = await startHarness({ ...options, register: ledgerTool(ledger) });
    return harness;
  };
  afterEach(async () => {
    await harness?.dispose();
    harness = null;
  });

  it('answers a message', async () => {
    const { platform } = await start({ model: createScriptedModel(['Hello Ann']) });
    await platform.says('hi');
    await expect.poll(() => platform.texts()).toEqual(['Hello Ann']);
  });

  it('runs a harmless tool call without asking', async () => {
    const { platform } = await start({
      model: createScriptedModel([{ call: 'run', args: { command: 'ls' } }, 'done']),
    });
    await platform.says('list');
    await expect.poll(() => platform.texts()).toEqual(['done']);
    expect(ledger).toEqual(['ls']);
  });

  it('waits with a card before a dangerous command, and runs it once after a press', async () => {
    const { platform } = await start({
      model: createScriptedModel([{ call: 'run', args: { command: 'rm -r build' } }, 'deleted']),
    });
    await platform.says('delete build');
    await expect.poll(() => platform.card()?.title).toBe('⚠️ May I run this?');
    expect(ledger).toEqual([]);
    expect(JSON.stringify(platform.card())).toContain('2 files, 3 kB');
    expect(await platform.presses(/Once/)).toEqual({ text: 'Approved.', alert: false });
    await expect.poll(() => platform.texts()).toEqual(['deleted']);
    expect(ledger).toEqual(['rm -r build']);
    await expect.poll(() => platform.card()?.title).toMatch(/^✅ Approved once by ann/);
    expect(platform.card()?.buttons).toEqual([]);
  });

  it('runs it once when the gateway was killed while the card waited', async () => {
    const started = await start({
      model: createScriptedModel([{ call: 'run', args: { command: 'rm -r build' } }]),
    });
    await started.platform.says('delete build');
    await expect.poll(() => started.platform.card()?.buttons.length).toBe(2);
    await started.restart(createScriptedModel(['deleted']));
    await started.platform.presses(/Once/);
    await expect.poll(() => started.platform.texts()).toEqual(['deleted']);
    expect(ledger).toEqual(['rm -r build']);
    await expect.poll(() => started.platform.card()?.buttons).toEqual([]);
  });

  it('tells the model of a denial with its reason, and runs nothing', async () => {
    const model = createScriptedModel([{ call: 'run', args: { command: 'rm -r build' } }, 'as you wish']);
    const { platform } = await start({ model });
    await platform.says('delete build');
    await expect.poll(() => platform.card()?.buttons.length).toBe(2);
    await platform.says('/deny keep it for now');
    await expect.poll(() => platform.texts()).toEqual(['as you wish']);
    expect(ledger).toEqual([]);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('keep it for now');
    await expect.poll(() => platform.card()?.title).toMatch(/^⛔ Denied by ann/);
  });

  it('lets nobody else decide', async () => {
    const { platform } = await start({
      model: createScriptedModel([{ call: 'run', args: { command: 'rm -r build' } }, 'deleted']),
    });
    await platform.says('delete build');
    await expect.poll(() => platform.card()?.buttons.length).toBe(2);
    expect(await platform.presses(/Once/, { user: 'bob' })).toEqual({
      text: 'Only ann or an admin can decide this.',
      alert: true,
    });
    expect(ledger).toEqual([]);
    await platform.presses(/Deny/);
    await expect.poll(() => platform.texts()).toEqual(['deleted']);
  });

  it('answers a second press and a late one without doing anything again', async () => {
    const { platform, store } = await start({
      model: createScriptedModel([{ call: 'run', args: { command: 'rm -r build' } }, 'deleted']),
    });
    await platform.says('delete build');
    await expect.poll(() => platform.card()?.buttons.length).toBe(2);
    const replies = await Promise.all([platform.presses(/Once/), platform.presses(/Once/)]);
    expect(replies.map((reply) => reply.alert).sort()).toEqual([false, true]);
    await expect.poll(() => platform.texts()).toEqual(['deleted']);
    expect(ledger).toEqual(['rm -r build']);
    expect((await store.read.audit.verify()).brokenAt).toBeNull();
  });

  it('does not ask again in this session after Session, and asks in another', async () => {
    const run = { call: 'run', args: { command: 'rm -r build' } };
    const { platform } = await start({ model: createScriptedModel([run, 'one', run, 'two', run]) });
    await platform.says('delete build');
    await expect.poll(() => platform.card()?.buttons.length).toBe(2);
    await platform.presses(/Session/);
    await expect.poll(() => platform.texts()).toEqual(['one']);
    await platform.says('again');
    await expect.poll(() => platform.texts()).toEqual(['one', 'two']);
    await platform.says('and here', { chatId: '2' });
    await expect.poll(() => platform.card()?.buttons.length).toBe(2);
    expect(ledger).toEqual(['rm -r build', 'rm -r build']);
    await platform.presses(/Deny/);
  });

  it('keeps Always across a restart', async () => {
    const run = { call: 'run', args: { command: 'rm -r build' } };
    const started = await start({ model: createScriptedModel([run, 'one']) });
    await started.platform.says('delete build');
    await expect.poll(() => started.platform.card()?.buttons.length).toBe(2);
    await started.platform.presses(/Always/);
    await expect.poll(() => started.platform.texts()).toEqual(['one']);
    await started.restart(createScriptedModel([run, 'two']));
    await started.platform.says('again', { chatId: '2' });
    await expect.poll(() => started.platform.texts()).toEqual(['one', 'two']);
  });

  it('expires a request that nobody answers', async () => {
    const { platform } = await start({
      model: createScriptedModel([{ call: 'run', args: { command: 'rm -r build' } }, 'left it']),
      config: { approvals: { timeout: 0.3 } },
    });
    await platform.says('delete build');
    await expect.poll(() => platform.texts(), { timeout: 5_000 }).toEqual(['left it']);
    await expect.poll(() => platform.card()?.title).toMatch(/^⌛/);
    expect(ledger).toEqual([]);
  });

  it('takes a new message instead of a decision (interrupt)', async () => {
    const { platform } = await start({
      model: createScriptedModel([{ call: 'run', args: { command: 'rm -r build' } }, 'fine, not that']),
    });
    await platform.says('delete build');
    await expect.poll(() => platform.card()?.buttons.length).toBe(2);
    await platform.says('no wait, what is in it?');
    await expect.poll(() => platform.texts()).toContain('fine, not that');
    await expect.poll(() => platform.card()?.title).toMatch(/^↩️/);
    expect(ledger).toEqual([]);
  });

  it('asks a question with buttons and takes the answer as text too', async () => {
    const ask = { call: 'ask', args: { question: 'Which one?', choices: ['red', 'blue'] } };
    const model = createScriptedModel([ask, 'ok red', ask, 'ok green']);
    const { platform } = await start({ model });
    await platform.says('paint');
    await expect.poll(() => platform.card()?.title).toBe('❓ A question');
    await platform.presses(/red/);
    await expect.poll(() => platform.texts()).toEqual(['ok red']);
    await platform.says('again');
    await expect.poll(() => platform.card()?.buttons.length).toBe(3);
    await platform.says('green');
    await expect.poll(() => platform.texts()).toEqual(['ok red', 'ok green']);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('green');
  });

  it('never runs a forbidden command, whatever the mode', async () => {
    const { platform } = await start({
      model: createScriptedModel([{ call: 'run', args: { command: 'rm -rf /' } }, 'refused']),
      config: { approvals: { mode: 'off' }, command_allowlist: ['*'] },
    });
    await platform.says('wipe');
    await expect.poll(() => platform.texts()).toEqual(['refused']);
    expect(ledger).toEqual([]);
  });

  it('interrupts a running turn with a new message and answers that', async () => {
    const gate = Promise.withResolvers<void>();
    const { platform } = await start({
      model: createScriptedModel([{ wait: gate.promise, say: 'stale' }, 'fresh']),
    });
    await platform.says('first');
    await expect.poll(async () => (await harness?.store.read.sessions.counts())?.running).toBe(1);
    await platform.says('second');
    await expect.poll(() => platform.texts()).toContain('fresh');
    gate.resolve();
    expect(platform.texts()).not.toContain('stale');
  });

  it('answers a message that comes the moment an answer is shown', async () => {
    const answers = Array.from({ length: 40 }, (_, index) => `answer ${index}`);
    const { platform } = await start({ model: createScriptedModel([...answers]) });
    const { deliver } = platform;
    platform.deliver = async (chat, payload, options) => {
      const sent = await deliver(chat, payload, options);
      // The lane is still at work on the turn that this answer ends.
      if (platform.texts().length < answers.length) void platform.says('next');
      return sent;
    };
    await platform.says('first');
    await expect.poll(() => platform.texts(), { timeout: 5_000 }).toEqual(answers);
  });

  it('queues messages in queue mode and answers each in order', async () => {
    const gate = Promise.withResolvers<void>();
    const { platform } = await start({
      model: createScriptedModel([{ wait: gate.promise, say: 'one' }, 'two', 'three']),
      config: { display: { busy_input_mode: 'queue', busy_ack_enabled: false } },
    });
    await platform.says('1');
    await expect.poll(async () => (await harness?.store.read.sessions.counts())?.running).toBe(1);
    await platform.says('2');
    await platform.says('3');
    gate.resolve();
    await expect.poll(() => platform.texts()).toEqual(['one', 'two', 'three']);
  });

  it('stops a running turn on /stop', async () => {
    const gate = Promise.withResolvers<void>();
    const { platform } = await start({
      model: createScriptedModel([{ wait: gate.promise, say: 'stale' }, 'next']),
    });
    await platform.says('first');
    await expect.poll(async () => (await harness?.store.read.sessions.counts())?.running).toBe(1);
    await platform.says('/stop');
    await expect.poll(() => platform.texts()).toEqual(['⏹ Stopped.']);
    await platform.says('go on');
    await expect.poll(() => platform.texts()).toEqual(['⏹ Stopped.', 'next']);
  });

  it('says what went wrong with the model, and what to do', async () => {
    const fail = new GatewayError('model_unauthorized', 'The provider refused the key.', {
      mend: 'Check OPENAI_API_KEY.',
    });
    const { platform } = await start({ model: createScriptedModel([{ fail }, 'works again']) });
    await platform.says('hi');
    await expect
      .poll(() => platform.texts()[0])
      .toMatch(/refused the key\. Check OPENAI_API_KEY\. \(error [0-9a-f]{6}\)/);
    await platform.says('again');
    await expect.poll(() => platform.texts()[1]).toBe('works again');
  });

  it('marks the message it works on, and how that ended', async () => {
    const work = Promise.withResolvers<void>();
    const { platform } = await start({
      model: createScriptedModel([{ wait: work.promise, say: 'fine' }]),
      config: { telegram: { token: 'x', allow_all_users: true, reactions: true } },
    });
    const shown: (string | null)[] = [];
    platform.react = async (_chat, _messageId, emoji) => void shown.push(emoji);
    await platform.says('hi');
    await expect.poll(() => shown).toEqual(['👀']);
    work.resolve();
    await expect.poll(() => shown).toEqual(['👀', '✅']);
  });

  it('marks a message that is answered at once only when the answer is out', async () => {
    const { platform } = await start({
      model: createScriptedModel(['fine']),
      config: { telegram: { token: 'x', allow_all_users: true, reactions: true } },
    });
    const shown: (string | null)[] = [];
    platform.react = async (_chat, _messageId, emoji) => {
      shown.push(`${emoji} beside ${platform.texts().join()}`);
    };
    await platform.says('hi');
    await expect.poll(() => shown).toEqual(['✅ beside fine']);
  });

  it('answers a repeated event once', async () => {
    const { platform } = await start({ model: createScriptedModel(['once', 'twice']) });
    await platform.says('hi', { eventId: 'same' });
    await expect.poll(() => platform.texts()).toEqual(['once']);
    await platform.says('hi', { eventId: 'same' });
    await platform.says('other', { eventId: 'other' });
    await expect.poll(() => platform.texts()).toEqual(['once', 'twice']);
  });

  it('delivers the answer after a send that surely failed', async () => {
    const { platform } = await start({ model: createScriptedModel(['hello']) });
    platform.failNext.push(
      new GatewayError('platform_unreachable', 'down', { retryable: true, retryAfterMs: 10 }),
    );
    await platform.says('hi');
    await expect.poll(() => platform.texts()).toEqual(['hello']);
  });

  it('gives strangers a code in a DM and answers them once approved', async () => {
    const started = await start({
      model: createScriptedModel(['welcome']),
      config: { telegram: { token: 'x', allow_all_users: false } },
    });
    await started.platform.says('hi', { user: 'eve' });
    await expect.poll(() => started.platform.texts()[0]).toMatch(/pair approve telegram [A-Z2-9]{8}/);
    const code = /approve telegram ([A-Z2-9]{8})/.exec(started.platform.texts()[0] ?? '')?.[1] ?? '';
    const { createPairing } = await import('../../../src/gateway/pairing.ts');
    const { systemClock } = await import('../../../src/clock.ts');
    await createPairing(started.home, systemClock).approve('telegram', code);
    await expect
      .poll(
        async () => {
          await started.platform.says('hi again', { user: 'eve' });
          return started.platform.texts().includes('welcome');
        },
        { interval: 300, timeout: 5_000 },
      )
      .toBe(true);
  });
});
