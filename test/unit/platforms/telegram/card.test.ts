import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Card } from '../../../../platforms/platform.ts';
import { renderCard } from '../../../../platforms/telegram/card.ts';
import { checkTelegramHtml } from '../../../emulators/telegram/html.ts';

const empty: Card = { title: 'Run?', tone: 'warning', blocks: [], buttons: [] };
function rendered(card: Partial<Card>) {
  const payload = renderCard({ ...empty, ...card });
  if (payload.kind !== 'card') throw new Error('no card');
  return payload;
}
const visible = (card: Partial<Card>) => checkTelegramHtml(rendered(card).html);

describe('a card', () => {
  test('shows all of any command, whatever is in it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 }),
        fc.nat(300),
        fc.nat(300),
        (text, a, b) => {
          fc.pre(text.trim() === text && !text.includes('\0'));
          const marks = [{ start: Math.min(a, b), end: Math.max(a, b) }];
          const seen = visible({ blocks: [{ kind: 'code', text, marks }] });
          expect(seen.error).toBeUndefined();
          expect(seen.text?.endsWith(text)).toBe(true);
        },
      ),
    );
  });

  test('underlines what stands out in the command', () => {
    const blocks = [{ kind: 'code' as const, text: 'cd x && rm -rf y', marks: [{ start: 8, end: 14 }] }];
    expect(rendered({ blocks }).html).toContain(
      '<code>cd x &amp;&amp; </code><u><b>rm -rf</b></u><code> y</code>',
    );
  });

  test('puts two buttons in a row, coloured by what they do', () => {
    const button = (id: string, style: 'success' | 'primary' | 'danger' | 'neutral') => ({
      id,
      label: id,
      style,
    });
    const buttons = [
      [button('once', 'success'), button('session', 'primary'), button('always', 'neutral')],
      [button('deny', 'danger')],
    ];
    expect(rendered({ buttons }).keyboard).toEqual([
      [
        { text: 'once', callback_data: 'once', style: 'success' },
        { text: 'session', callback_data: 'session', style: 'primary' },
      ],
      [{ text: 'always', callback_data: 'always' }],
      [{ text: 'deny', callback_data: 'deny', style: 'danger' }],
    ]);
  });

  test('is refused when escaping makes it too long, instead of being cut', () => {
    expect(() => rendered({ blocks: [{ kind: 'code', text: 'x'.repeat(4_000) }] })).not.toThrow();
    expect(() => rendered({ blocks: [{ kind: 'code', text: '<'.repeat(1_100) }] })).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
  });

  test('is refused when a button id would not fit, instead of losing its buttons', () => {
    const buttons = [[{ id: 'ж'.repeat(33), label: 'Once', style: 'success' as const }]];
    expect(() => rendered({ buttons })).toThrow(/66 bytes/);
  });

  test('mentions nobody', () => {
    expect(rendered({ blocks: [{ kind: 'text', text: 'asked by @durov' }] }).html).not.toContain('@durov');
  });
});
