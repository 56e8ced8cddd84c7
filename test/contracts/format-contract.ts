import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PlatformRig } from './platform-contract.ts';
import { createRecordingSink } from './recording-sink.ts';

/** Field reports on formatting and limits, each with its small input, as the platform itself sees them. */
export function formatContract(name: string, start: () => Promise<PlatformRig>): void {
  describe(`what people report of formatting, on ${name}`, () => {
    let rig: PlatformRig;
    let keys = 0;

    beforeEach(async () => {
      rig = await start();
      await rig.platform.connect(createRecordingSink(), [], AbortSignal.timeout(10_000));
    });
    afterEach(async () => {
      await rig.platform.disconnect();
      await rig.close();
      expect(rig.violations()).toEqual([]);
    });

    async function deliver(markdown: string): Promise<void> {
      for (const payload of rig.platform.render({ kind: 'text', markdown })) {
        const options = { key: `format${++keys}`, signal: AbortSignal.timeout(10_000) };
        await rig.platform.deliver(rig.chat, JSON.parse(JSON.stringify(payload)), options);
      }
    }
    const texts = () => rig.shown(rig.chat).map(({ text }) => text);

    test.each([
      ['broken marks', '**a_b [x](y', ['a', 'b', 'x', 'y']],
      ['a tag', 'before <div> after', ['before', 'div', 'after']],
      ['an address with underscores', 'see https://e.example/a___b___c now', ['see', 'e.example/a', 'now']],
    ])('"can\'t parse entities" loses no message: %s', async (_what, markdown, words) => {
      await deliver(markdown);
      rig.faults.refuseMarkup();
      await deliver(markdown);
      expect(texts()).toHaveLength(2);
      for (const text of texts()) for (const word of words) expect(text).toContain(word);
    });

    test('of a long answer only the part that is refused loses its markup', async () => {
      rig.faults.refuseMarkup();
      const { textUnits } = rig.platform.capabilities.limits;
      const words = Array.from({ length: Math.ceil(textUnits / 3) }, (_, index) => `**w${index}**`);
      await deliver(words.join(' '));
      expect(texts().length).toBeGreaterThan(1);
      expect(texts().join(' ').match(/w\d+/g)).toEqual(words.map((word) => word.slice(2, -2)));
    });

    test.each([
      ['a surrogate pair at the limit', `${'a'.repeat(4_095)}😀`],
      ['a joined emoji at the limit', `${'a'.repeat(1_995)}👩‍👩‍👧‍👦${'b'.repeat(2_100)}👩‍👩‍👧‍👦`],
      ['words without end', 'слово '.repeat(1_500)],
      ['what becomes entities', '<&> '.repeat(1_200)],
    ])('a split falls into no character, word or entity: %s', async (_what, markdown) => {
      await deliver(markdown);
      const shown = texts();
      expect(shown.length).toBeGreaterThan(1);
      for (const text of shown) expect(text.isWellFormed()).toBe(true);
      expect(bare(shown.join(''))).toBe(bare(markdown));
      expect(shown.flatMap((text) => text.match(/[а-я]+/g) ?? []).every((word) => word === 'слово')).toBe(
        true,
      );
    });

    test('a link in bold is one link, and none of its marks are left over', async () => {
      await deliver('**[a](http://x.example/)**');
      expect(new Set(rig.effects().links)).toEqual(new Set(['http://x.example/']));
      expect(rig.effects().pings).toEqual([]);
    });

    test('a table is readable with its bold cells, and one in a fence is left alone', async () => {
      await deliver(
        '| name | size |\n|---|---|\n| **one** | 1 & 2 |\n\n```\n| **raw** | <b> |\n|---|---|\n```',
      );
      const shown = texts().join('\n');
      for (const word of ['name', 'size', 'one', '1 & 2']) expect(shown).toContain(word);
      expect(shown).toContain('| **raw** | <b> |');
    });
  });
}

/** Without blanks and the signs that a platform's own marks add. */
function bare(text: string): string {
  return text.replace(/[\s\\]/g, '');
}
