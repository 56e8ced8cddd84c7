import { describe, expect, it } from 'vitest';
import type { StoredMessage } from '../emulators/telegram/world.ts';
import type { Seen } from './person.ts';
import type { PlannedMessage } from './plan.ts';
import { type Evidence, judgeEvidence } from './verdict.ts';

/** The judge of the chaos run must see what it is there to see. */
describe('the verdict on a chaos run', () => {
  const planned = (id: string, change: Partial<PlannedMessage> = {}): PlannedMessage => ({
    id,
    deed: 'append',
    intent: 'approve',
    pressesTwice: false,
    thinkMs: 0,
    ...change,
  });
  const seen = (message: PlannedMessage, change: Partial<Seen> = {}): Seen => ({
    planned: message,
    toldDecided: message.deed === 'remove' && message.intent !== 'ignore',
    answered: true,
    ...change,
  });
  const bot = { id: 1, first_name: 'Hermes', is_bot: true };
  const shown = (text: string, buttons: readonly string[] = []): StoredMessage => ({
    id: 1,
    chat: { id: 1_000, type: 'private' },
    from: bot,
    text,
    source: {},
    keyboard: buttons.length === 0 ? [] : [buttons.map((label) => ({ text: label }))],
    silent: false,
    date: 0,
    edits: 0,
  });
  function violationsOf(one: Seen[], messages: StoredMessage[], change: Partial<Evidence> = {}): string[] {
    return judgeEvidence({
      chats: [{ seen: one, shown: messages }],
      ledger: [],
      answersSent: [],
      killsAt: [],
      unconfirmed: new Set(),
      ...change,
    }).violations;
  }

  const append = planned('m0x0');
  const remove = (intent: PlannedMessage['intent']) => planned('m0x0', { deed: 'remove', intent });

  it('finds nothing where a command ran once and its answer came', () => {
    expect(violationsOf([seen(append)], [shown('m0x0: ran')], { ledger: ['m0x0'] })).toEqual([]);
  });

  it('lets an interrupted command be told as unknown, whether it ran or not', () => {
    expect(violationsOf([seen(append)], [shown('m0x0: unknown')])).toEqual([]);
    expect(violationsOf([seen(append)], [shown('m0x0: unknown')], { ledger: ['m0x0'] })).toEqual([]);
  });

  it('sees a command that ran twice', () => {
    expect(violationsOf([seen(append)], [shown('m0x0: ran')], { ledger: ['m0x0', 'm0x0'] }).join()).toContain(
      'ran 2 times',
    );
  });

  it('sees a command that was told to have run and did not', () => {
    expect(violationsOf([seen(append)], [shown('m0x0: ran')]).join()).toContain('did not');
  });

  it.each(['deny', 'ignore'] as const)(
    'sees a command that ran although its person meant to %s',
    (intent) => {
      const found = violationsOf([seen(remove(intent))], [shown('m0x0: ran')], { ledger: ['m0x0'] });
      expect(found.join()).toContain(`meant to ${intent}`);
    },
  );

  it('sees an approved command that expired after the bot had said that it was approved', () => {
    expect(violationsOf([seen(remove('approve'))], [shown('m0x0: expired')]).join()).toContain(
      'expected ran',
    );
  });

  it('sees a message without an answer', () => {
    expect(violationsOf([seen(append, { answered: false })], []).join()).toContain('never answered');
  });

  it('sees answers out of order', () => {
    const two = [seen(planned('m0x0', { deed: 'talk' })), seen(planned('m0x1', { deed: 'talk' }))];
    expect(violationsOf(two, [shown('m0x1: talked'), shown('m0x0: talked')]).join()).toContain(
      'out of order',
    );
  });

  it('sees a card whose buttons were left', () => {
    const card = shown('May I run this? rm -rf ./scratch-m0x0', ['Once']);
    const found = violationsOf([seen(remove('deny'))], [card, shown('m0x0: denied')]);
    expect(found.join()).toContain('live buttons');
  });

  it('excuses an answer that came twice around a kill or a lost confirmation, and no other', () => {
    const answersSent = [
      { id: 'm0x0', key: 'a', at: 1_000 },
      { id: 'm0x0', key: 'a', at: 2_000 },
    ];
    const twice = (change: Partial<Evidence>) =>
      violationsOf([seen(append)], [shown('m0x0: ran')], { ledger: ['m0x0'], answersSent, ...change });
    expect(twice({ killsAt: [1_500] })).toEqual([]);
    expect(twice({ unconfirmed: new Set(['a']) })).toEqual([]);
    expect(twice({ killsAt: [2_500] }).join()).toContain('answered twice');
  });

  it('sees more doubled answers than a hundredth of the kills', () => {
    const answersSent = ['m0x0', 'm0x1'].flatMap((id) => [
      { id, key: id, at: 10 },
      { id, key: id, at: 20 },
    ]);
    const two = [seen(planned('m0x0', { deed: 'talk' })), seen(planned('m0x1', { deed: 'talk' }))];
    const found = violationsOf(two, [shown('m0x0: talked'), shown('m0x1: talked')], {
      answersSent,
      killsAt: [15],
    });
    expect(found.join()).toContain('came twice by a kill');
  });
});
