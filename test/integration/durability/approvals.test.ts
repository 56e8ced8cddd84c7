import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InboundEvent } from '../../../platforms/platform.ts';
import { GatewayError } from '../../../src/errors.ts';
import { requestCard } from '../../../src/gateway/cards.ts';
import { noHooks } from '../../../tools/hooks.ts';
import { type Harness, type HarnessOptions, startHarness } from '../../support/gateway-harness.ts';
import { createMemoryPlatform } from '../../support/memory-platform.ts';
import { createScriptedModel, type Step } from '../../support/scripted-model.ts';
import { createLedgerTools, type LedgerTools, never } from './ledger-tools.ts';

const remove = (what: string): Step => ({ call: 'run', args: { command: `rm -r ${what}` } });

/** What people report of approvals that hang, lie or let too much through, and what is right. */
describe('approvals under fire', () => {
  let harness: Harness;
  let tools: LedgerTools;
  beforeEach(() => {
    tools = createLedgerTools();
  });
  afterEach(() => harness.dispose());

  async function start(options: Omit<HarnessOptions, 'register'>): Promise<Harness> {
    const config = { display: { tool_progress: 'off' }, ...options.config };
    harness = await startHarness({ ...options, config, register: tools.register });
    return harness;
  }
  const shown = () => expect.poll(() => harness.platform.texts());
  const untilCard = (text = 'May I run this?') =>
    expect
      .poll(() => JSON.stringify(harness.platform.card()?.buttons.length ? harness.platform.card() : null))
      .toContain(text);
  const firstButton = () => harness.platform.card()?.buttons[0]?.[0]?.id ?? '';

  it('tells a late press that the request has expired, and runs nothing', async () => {
    await start({
      model: createScriptedModel([remove('build'), 'left it']),
      config: { approvals: { timeout: 0.3 } },
    });
    await harness.platform.says('delete');
    await untilCard();
    const button = firstButton();
    await shown().toEqual(['left it']);
    expect(await harness.platform.pressesId(button)).toEqual({
      text: 'This has expired; nothing ran.',
      alert: true,
    });
    expect(tools.ledger).toEqual([]);
  });

  it('answers a press after a decision by text, and strips the buttons', async () => {
    await start({ model: createScriptedModel([remove('build'), 'deleted']) });
    await harness.platform.says('delete');
    await untilCard();
    const button = firstButton();
    await harness.platform.says('/approve');
    await shown().toEqual(['deleted']);
    expect(await harness.platform.pressesId(button)).toEqual({
      text: 'This was decided already.',
      alert: true,
    });
    await expect.poll(() => harness.platform.card()?.buttons).toEqual([]);
    expect(tools.ledger).toEqual(['rm -r build']);
  });

  it('knows no card of another store, and says so', async () => {
    await start({ model: createScriptedModel([]) });
    expect(await harness.platform.pressesId('ap:abcdefabcdef:once')).toEqual({
      text: 'This card is not known any more.',
      alert: true,
    });
  });

  it('takes /approve while the turn that asked is open, without waiting behind it', async () => {
    await start({
      model: createScriptedModel([{ calls: [call('rm -r one'), call('rm -r two')] }, 'both deleted']),
      config: { display: { busy_input_mode: 'queue', busy_ack_enabled: false, tool_progress: 'off' } },
    });
    await harness.platform.says('delete both');
    await untilCard('rm -r one');
    await harness.platform.says('/approve');
    await untilCard('rm -r two');
    await harness.platform.says('/approve');
    await shown().toEqual(['both deleted']);
    expect(tools.ledger).toEqual(['rm -r one', 'rm -r two']);
  });

  it('does not let a "yes" that is delivered again decide the next card', async () => {
    await start({ model: createScriptedModel([remove('one'), remove('two'), 'kept two']) });
    await harness.platform.says('delete');
    await untilCard('rm -r one');
    await harness.platform.says('yes', { eventId: 'the-yes' });
    await untilCard('rm -r two');
    await harness.platform.says('yes', { eventId: 'the-yes' });
    expect(await harness.store.read.approvals.countPending()).toBe(1);
    expect(tools.ledger).toEqual(['rm -r one']);
    await harness.platform.says('no', { eventId: 'the-no' });
    await shown().toEqual(['kept two']);
    expect(tools.ledger).toEqual(['rm -r one']);
  });

  it('gives a stranger in an open group no right to decide', async () => {
    await start({ model: createScriptedModel([remove('build'), 'deleted']) });
    const chat: InboundEvent['chat'] = { platform: 'telegram', kind: 'group', chatId: '-7' };
    await harness.platform.says('delete', { chat });
    await untilCard();
    expect(await harness.platform.presses(/Once/, { user: 'mallory' })).toMatchObject({ alert: true });
    expect(await harness.store.read.approvals.countPending()).toBe(1);
    await harness.platform.says('yes', { chat, user: 'mallory' });
    expect(tools.ledger).toEqual([]);
  });

  it('offers neither Session nor Always where they cannot be kept', async () => {
    await start({ model: createScriptedModel([{ call: 'script', args: { code: 'print(1)' } }, 'ran']) });
    await harness.platform.says('run the script');
    await untilCard();
    const labels = harness.platform
      .card()
      ?.buttons.flat()
      .map((button) => button.label);
    expect(labels).toEqual(['✅ Once', '⛔ Deny']);
    await harness.platform.presses(/Once/);
    await shown().toEqual(['ran']);
  });

  it('refuses what was not offered, even when the button is forged', async () => {
    await start({ model: createScriptedModel([{ call: 'script', args: { code: 'print(1)' } }, 'ran']) });
    await harness.platform.says('run the script');
    await untilCard();
    const forged = firstButton().replace(/once$/, 'always');
    expect(await harness.platform.pressesId(forged)).toMatchObject({ alert: true });
    expect(await harness.store.read.approvals.countPending()).toBe(1);
    expect(tools.ledger).toEqual([]);
  });

  const long = `rm -r build; cat <<'END'\n${'x'.repeat(12_000)}\nEND\nrm -r /srv/payload`;

  it('shows a command in full, as a file before the card, when the card cannot hold it', async () => {
    await start({ model: createScriptedModel([{ call: 'run', args: { command: long } }, 'done']) });
    await harness.platform.says('go');
    await untilCard();
    const kinds = harness.platform.shown.map(({ content }) => content.kind);
    expect(kinds.slice(-2)).toEqual(['file', 'card']);
    const file = harness.platform.shown.at(-2)?.content;
    const { readFile } = await import('node:fs/promises');
    expect(await readFile(file?.kind === 'file' ? file.path : '', 'utf8')).toBe(long);
  });

  it('lets nobody approve what it cannot show in full', async () => {
    const platform = createMemoryPlatform('telegram', { files: false });
    await start({
      model: createScriptedModel([{ call: 'run', args: { command: long } }, 'not run']),
      platform,
    });
    await platform.says('go');
    await untilCard();
    expect(
      platform
        .card()
        ?.buttons.flat()
        .map((button) => button.label),
    ).toEqual(['⛔ Deny']);
    expect(await platform.pressesId(firstButton().replace(/deny$/, 'once'))).toMatchObject({ alert: true });
    expect(tools.ledger).toEqual([]);
  });

  it('refuses at once, with the reason, where nobody can be asked', async () => {
    const platform = createMemoryPlatform('telegram', { attended: false });
    const model = createScriptedModel([remove('build'), 'I may not']);
    await start({ model, platform });
    await platform.says('delete');
    await shown().toEqual(['I may not']);
    expect(platform.card()).toBeUndefined();
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/BLOCKED|blocked/);
    expect(tools.ledger).toEqual([]);
  });

  it('refuses a request whose card could not be shown, runs nothing, and lets the model tell why', async () => {
    const model = createScriptedModel([remove('build'), 'could not ask']);
    const { platform } = await start({ model });
    platform.failNext.push(new GatewayError('platform_refused', 'bad keyboard'));
    await platform.says('delete');
    await shown().toEqual(['could not ask']);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('could not be shown in the chat');
    expect(tools.ledger).toEqual([]);
  });

  it('closes every copy of a card that is pressed, when a lost confirmation showed it twice', async () => {
    await start({ model: createScriptedModel([remove('build'), 'deleted']) });
    await harness.platform.says('delete');
    await untilCard();
    const [card] = harness.platform.shown;
    if (card === undefined) throw new Error('no card is shown');
    const button = firstButton();
    harness.platform.shown.unshift({ ...card, id: 'copy' });
    await harness.platform.pressesId(button, { messageId: 'copy' });
    await shown().toEqual(['deleted']);
    const live = () =>
      harness.platform.shown.filter(
        ({ content }) => content.kind === 'card' && content.card.buttons.length > 0,
      );
    await expect.poll(live).toEqual([]);
    expect(tools.ledger).toEqual(['rm -r build']);
  });

  it('tells a refused command as refused, not as interrupted, when the process dies before that is stored', async () => {
    let deaths = 0;
    const diesOnce = () => {
      deaths += 1;
      return deaths === 1 ? never : undefined;
    };
    await start({
      model: createScriptedModel([remove('build')]),
      parts: { hooks: { ...noHooks, postToolCall: [diesOnce] } },
    });
    await harness.platform.says('delete');
    await untilCard();
    await harness.platform.says('/deny');
    await expect.poll(() => deaths).toBe(1);
    const model = createScriptedModel(['left it']);
    await harness.restart(model);
    await shown().toContain('left it');
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('denied by');
    expect(tools.ledger).toEqual([]);
  });

  it('keeps every button id within 64 bytes, whatever the chat is called', async () => {
    const chat = {
      platform: 'telegram',
      kind: 'thread',
      chatId: '-100'.padEnd(40, '9'),
      threadId: 'тема',
    } as const;
    const card = requestCard(
      {
        id: 'x'.repeat(24),
        sessionKey: `agent:main:telegram:thread:${chat.chatId}:ключ`.padEnd(80, 'ы'),
        sessionId: 's',
        callId: 'c',
        chat,
        locale: 'en',
        askerId: '1',
        askerName: 'Аня',
        ask: {
          kind: 'question',
          question: 'Which?',
          choices: Array.from({ length: 12 }, (_, n) => `choice ${n}`),
        },
        state: 'pending',
        createdAt: 0,
        expiresAt: 60_000,
        decision: null,
        cardId: null,
      },
      0,
      false,
    );
    const sizes = card.buttons.flat().map((button) => Buffer.byteLength(button.id));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(64);
    await start({ model: createScriptedModel([]) });
  });
});

function call(command: string) {
  return { call: 'run', args: { command } };
}
