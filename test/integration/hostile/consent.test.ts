import { afterEach, describe, expect, it } from 'vitest';
import { type Harness, type HarnessOptions, startHarness } from '../../support/gateway-harness.ts';
import { ledgerTool } from '../../support/ledger-tool.ts';
import { createMemoryPlatform } from '../../support/memory-platform.ts';
import { createScriptedModel, type Step } from '../../support/scripted-model.ts';

const run = (command: string, id?: string): Step => ({ call: 'run', args: { command }, ...(id && { id }) });

describe('nothing dangerous runs but what a person was shown and agreed to', () => {
  let harness: Harness | null = null;
  let cwd = '/work';
  const ledger: string[] = [];
  const start = async (options: Omit<HarnessOptions, 'register'>) => {
    ledger.length = 0;
    cwd = '/work';
    harness = await startHarness({ ...options, register: ledgerTool(ledger, () => cwd) });
    return harness;
  };
  afterEach(async () => {
    await harness?.dispose();
    harness = null;
  });

  it('asks anew when a model uses the id of an approved call again after /undo', async () => {
    const { platform } = await start({
      model: createScriptedModel([
        run('rm -rf build', 'call_1'),
        'first',
        run('rm -rf photos', 'call_1'),
        'second',
      ]),
    });
    await platform.says('clean');
    await expect.poll(() => platform.card()?.title).toContain('?');
    await platform.presses(/once/i);
    await expect.poll(() => platform.texts()).toContain('first');
    await platform.says('/undo');
    await expect.poll(() => platform.texts().length).toBe(2);
    await platform.says('again');
    await expect.poll(() => platform.card()?.buttons.length).toBeGreaterThan(0);
    expect(ledger).toEqual(['rm -rf build']);
  });

  it('asks anew for the same command under the same id after /retry: once is once', async () => {
    const { platform } = await start({
      model: createScriptedModel([
        run('rm -rf build', 'call_1'),
        'first',
        run('rm -rf build', 'call_1'),
        'second',
      ]),
    });
    await platform.says('clean');
    await expect.poll(() => platform.card()?.buttons.length).toBeGreaterThan(0);
    await platform.presses(/once/i);
    await expect.poll(() => platform.texts()).toContain('first');
    await platform.says('/retry');
    await expect.poll(() => platform.card()?.buttons.length).toBeGreaterThan(0);
    expect(ledger).toEqual(['rm -rf build']);
  });

  it('does not run an approved command in another folder than the one on the card', async () => {
    const { platform, restart } = await start({ model: createScriptedModel([run('rm -rf ./data')]) });
    await platform.says('clean');
    await expect.poll(() => platform.card()?.buttons.length).toBeGreaterThan(0);
    // The shell's state does not outlive the process.
    await restart(createScriptedModel(['told']), async () => {
      cwd = '/home/ann';
    });
    await platform.presses(/once/i);
    await expect.poll(() => platform.texts()).toContain('told');
    expect(ledger).toEqual([]);
  });

  it('leaves no card behind when a message comes while the card is being made', async () => {
    let beginPreview: () => void = () => undefined;
    const previewing = new Promise<void>((resolve) => {
      beginPreview = resolve;
    });
    let endPreview: () => void = () => undefined;
    const preview = new Promise<void>((resolve) => {
      endPreview = resolve;
    });
    const { platform, store } = await start({
      model: createScriptedModel([run('rm -rf build'), 'something else']),
      config: { display: { busy_ack_enabled: false, busy_input_mode: 'interrupt' } },
      parts: {
        async preview() {
          beginPreview();
          await preview;
          return null;
        },
      },
    });
    await platform.says('clean');
    await previewing;
    await platform.says('no, wait');
    endPreview();
    await expect.poll(() => platform.texts()).toEqual(['something else']);
    await expect.poll(async () => (await store.read.sessions.open()).length).toBe(0);
    expect(await store.read.approvals.countPending()).toBe(0);
    expect(ledger).toEqual([]);
  });

  it('takes no press from a person of another platform who happens to have the same id', async () => {
    const chat = createMemoryPlatform('telegram');
    const other = createMemoryPlatform('discord');
    const { platform, store } = await start({
      platform: chat,
      model: createScriptedModel([run('rm -rf build'), 'done']),
      config: {
        telegram: { token: 'x', allow_all_users: true },
        discord: { token: 'x', allow_all_users: true, admin_users: ['eve'] },
        platform_toolsets: { telegram: ['test'] },
      },
      parts: {
        platforms: new Map([
          [chat.name, chat],
          [other.name, other],
        ]),
      },
    });
    await platform.says('clean');
    await expect.poll(() => platform.card()?.buttons.length).toBeGreaterThan(0);
    const button = platform.card()?.buttons[0]?.[0]?.id ?? '';
    expect((await other.pressesId(button, { user: 'ann' })).alert).toBe(true);
    expect((await other.pressesId(button, { user: 'eve' })).alert).toBe(true);
    expect(await store.read.approvals.countPending()).toBe(1);
    expect(ledger).toEqual([]);
  });

  it('loses no message that answers a question which was answered a moment before', async () => {
    const model = createScriptedModel([
      { call: 'ask', args: { question: 'Which?', choices: ['red', 'blue'] } },
      'noted',
      'more',
    ]);
    const { platform, store } = await start({ model });
    await platform.says('paint');
    await expect.poll(() => platform.card()?.buttons.length).toBeGreaterThan(0);
    await Promise.all([platform.presses(/red/), platform.says('and the door in green')]);
    await expect.poll(async () => (await store.read.sessions.open()).length).toBe(0);
    await expect.poll(() => JSON.stringify(model.requests.at(-1)?.messages)).toContain('green');
  });

  it('counts "/approve all" as carried out when the last request ended a moment before', async () => {
    const { platform, store } = await start({ model: createScriptedModel([run('rm -rf build'), 'done']) });
    await platform.says('clean');
    await expect.poll(() => platform.card()?.buttons.length).toBeGreaterThan(0);
    const [first] = await store.read.approvals.allPending();
    if (!first) throw new Error('nothing waits');
    const ended = {
      ...first,
      id: 'ended',
      callId: 'x',
      cardId: null,
      createdAt: first.createdAt + 1,
      expiresAt: 1,
    };
    await store.transaction((tables) => tables.approvals.add(ended));
    await platform.says('/approve all');
    await expect.poll(() => ledger).toEqual(['rm -rf build']);
    // What is left as new is carried out again at the next start, upon whatever waits then.
    await expect.poll(() => store.read.inbox.waitingCommands()).toEqual([]);
  });

  it.each([
    ['replies to another message', { replyTo: { messageId: 'other', toBot: true } }],
    ['was written before there was a card', { sentAt: 1 }],
  ])('takes no "yes" for a consent that %s', async (_how, how) => {
    const { platform } = await start({
      model: createScriptedModel([run('rm -rf build'), 'understood', 'understood']),
    });
    await platform.says('clean');
    await expect.poll(() => platform.card()?.buttons.length).toBeGreaterThan(0);
    await platform.says('yes', how);
    await expect.poll(() => platform.texts()).toContain('understood');
    expect(ledger).toEqual([]);
  });

  it('takes a "yes" that replies to the card', async () => {
    const { platform, store } = await start({ model: createScriptedModel([run('rm -rf build'), 'done']) });
    await platform.says('clean');
    await expect.poll(() => platform.card()?.buttons.length).toBeGreaterThan(0);
    const messageId = platform.shown.findLast((one) => one.content.kind === 'card')?.id ?? '';
    const cardId = (await store.read.approvals.allPending())[0]?.cardId ?? 0;
    await expect.poll(async () => (await store.read.outbox.get(cardId))?.messageId).toBe(messageId);
    await platform.says('yes', { replyTo: { messageId, toBot: true } });
    await expect.poll(() => platform.texts()).toContain('done');
    expect(ledger).toEqual(['rm -rf build']);
  });
});
