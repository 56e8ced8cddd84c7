import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderText } from '../../../../platforms/discord/markdown.ts';
import { readPayload } from '../../../../platforms/discord/payload.ts';
import { render } from '../../../../platforms/discord/render.ts';
import { codeBlock, toDiscordMarkdown } from '../../../../platforms/format/discord-markdown.ts';
import type { Card, CardButton } from '../../../../platforms/platform.ts';
import { GatewayError } from '../../../../src/errors.ts';
import { hostileMarkdown, someMarkdown } from '../format/markdown-samples.ts';

const card: Card = { title: 'Run this?', tone: 'warning', blocks: [], buttons: [] };
const rendered = (change: Partial<Card>) => {
  const [payload = {}] = render({ kind: 'card', card: { ...card, ...change } });
  return readPayload(payload);
};
const description = (change: Partial<Card>): string =>
  String(rendered(change).embeds?.[0]?.['description'] ?? '');

/** Null for a card that does not fit. */
function embedOf(change: Partial<Card>): Record<string, unknown> | null {
  try {
    return rendered(change).embeds?.[0] ?? null;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'usage') return null;
    throw error;
  }
}

/** Code: a run of backticks, not escaped, up to the next run of the same length. */
const codeSpans = /(?<![\\`])(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g;

describe('Markdown for Discord', () => {
  it.each([
    ['emphasis is kept', 'a **b** *c* ~~d~~ `e`', 'a **b** *c* ~~d~~ `e`'],
    ['a deep heading becomes bold', '#### Four', '**Four**'],
    [
      'a table becomes aligned code',
      '| a | bb |\n|---|---|\n| ccc | d |',
      '```\na   │ bb\n────┼───\nccc │ d\n```',
    ],
    ['a task list shows its boxes', '- [x] done\n- [ ] open', '- ☑ done\n- ☐ open'],
    ['a nested list keeps its depth', '1. one\n   - two', '1. one\n   - two'],
    ['a link to the web stays', '[docs](https://example.com/a_(b))', '[docs](https://example.com/a_%28b%29)'],
    ['a bare link stays whole', 'see https://example.com/a_b_c', 'see https://example.com/a_b_c'],
    [
      'a bare link makes no link of what runs into it',
      '\\[x](https://a.b/c)[me](tg://user?id=1)',
      '\\[x\\](https://a.b/c)%5Bme%5D(tg://user?id=1)',
    ],
    ['a script link is text', '[x](javascript:alert(1))', 'x (javascript:alert(1))'],
    ['a mention is text', 'hi <@U123> <@&5>', 'hi \\<@U123> \\<@&5>'],
    ['a timestamp is text', 'at <t:1:R>', 'at \\<t:1:R>'],
    ['spoiler bars are text', 'a ||b|| c', 'a \\|\\|b\\|\\| c'],
    ['a picture is a link', '![chart](https://example.com/c.png)', '[chart](https://example.com/c.png)'],
    ['a year that begins a line is no list', '2026. What a year', '2026. What a year'],
  ])('%s', (_name, markdown, expected) => {
    expect(toDiscordMarkdown(markdown)).toBe(expected);
  });

  it('every message is within the limit and closes its code, whatever the model writes', () => {
    const long = fc.array(someMarkdown, { maxLength: 12 }).map((parts) => parts.join('\n\n'));
    fc.assert(
      fc.property(long, (markdown) => {
        for (const part of renderText(markdown)) {
          expect(part.length).toBeLessThanOrEqual(2000);
          expect(part.match(/^[> ]*(?:- |\d+\. )*```/gm)?.length ?? 0).toSatisfy(
            (fences: number) => fences % 2 === 0,
          );
        }
      }),
      { numRuns: 200 },
    );
  });

  it('no run of backticks within a code block closes it', () => {
    for (const length of [3, 4, 5, 6, 7]) {
      const code = '`'.repeat(length);
      const text = codeBlock(`before ${code} after`);
      expect(text.slice(3, -3)).not.toContain('```');
    }
  });

  it('nothing links but to the web, and nothing outside code mentions', () => {
    fc.assert(
      fc.property(someMarkdown, (markdown) => {
        const prose = toDiscordMarkdown(markdown).replace(codeSpans, '');
        for (const [, target = ''] of prose.matchAll(/(?<!\\)\]\(([^)]*)\)/g))
          expect(target).toMatch(/^https?:/);
        expect(prose).not.toMatch(/(?<!\\)<[@#!t]/);
      }),
      // Three backticks within code once closed it early.
      {
        numRuns: 1000,
        examples: [['``a ` b```[me](tg://user?id=1)`'], ['``a ` b```[me](tg://user?id=1)```']],
      },
    );
    expect(toDiscordMarkdown(hostileMarkdown)).toBe(
      '\\<!channel> @everyone \\<@U123> x (javascript:alert(1))',
    );
  });

  it('a long answer loses no word, and each part closes its code', () => {
    const words = Array.from({ length: 900 }, (_, at) => `w${at}`);
    const parts = renderText(
      `${words.slice(0, 450).join(' ')}\n\n\`\`\`js\n${words.slice(450).join('\n')}\n\`\`\``,
    );
    expect(parts.length).toBeGreaterThan(2);
    const joined = parts.join(' ');
    for (const word of words) expect(joined).toMatch(new RegExp(`\\b${word}\\b`));
    for (const part of parts) expect((part.match(/```/g) ?? []).length % 2).toBe(0);
  });
});

describe('a card', () => {
  const button = (id: string, change: Partial<CardButton> = {}): CardButton => ({
    id,
    label: id,
    style: 'neutral',
    ...change,
  });

  it('shows a command as code, names what is marked, and counts down to its end', () => {
    const text = 'cd /srv && rm -rf build';
    const shown = description({
      blocks: [{ kind: 'code', text, marks: [{ start: 11, end: 17 }] }],
      buttons: [[button('a')]],
      expiresAt: 1_800_000_000_000,
    });
    expect(shown).toBe('```\ncd /srv && rm -rf build\n```\n⚠️ `rm -rf`\n⏳ <t:1800000000:R>');
  });

  it('keeps a command in its block, even one with fences in it', () => {
    const shown = description({ blocks: [{ kind: 'code', text: 'cat <<E\n```\n# hi\nE' }] });
    expect(shown.match(/```/g)).toHaveLength(2);
  });

  it('takes no markup from what is shown on it', () => {
    const shown = description({ blocks: [{ kind: 'text', text: '**bold** <@1> ||x||\n# big' }] });
    expect(shown).toBe('\\*\\*bold\\*\\* \\<@1> \\|\\|x\\|\\|\n\\# big');
  });

  it('says all that is known of it', () => {
    const facts = [
      { label: 'Why', text: 'recursive *delete*' },
      { label: 'Where', text: 'local' },
    ];
    expect(description({ blocks: [{ kind: 'facts', facts }] })).toBe(
      '**Why:** recursive \\*delete\\*\n**Where:** local',
    );
  });

  it('is refused when it does not fit, since nobody shall approve what he cannot read', () => {
    const blocks = [{ kind: 'code' as const, text: `${'x'.repeat(4100)}\nrm -rf /precious` }];
    expect(() => rendered({ blocks })).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining('too long for Discord') }),
    );
  });

  it('shows a long title whole', () => {
    const title = `Denied by Ann: ${'because '.repeat(60)}`.trim();
    expect(description({ title })).toContain(title);
  });

  it('that is rendered is taken by Discord, whatever is put on it', () => {
    const anyText = fc.string({ maxLength: 1500, unit: 'grapheme' });
    const block = fc.oneof(
      fc.record({ kind: fc.constant('text' as const), text: anyText }),
      fc.record({ kind: fc.constant('code' as const), text: anyText }),
      fc.record({
        kind: fc.constant('facts' as const),
        facts: fc.array(fc.record({ label: fc.string({ maxLength: 30 }), text: fc.string() }), {
          maxLength: 9,
        }),
      }),
    );
    fc.assert(
      fc.property(anyText, fc.array(block, { maxLength: 4 }), anyText, (title, blocks, footer) => {
        const embed = embedOf({ title, blocks, footer });
        if (embed === null) return;
        expect(textLength(embed)).toBeLessThanOrEqual(6000);
        const shown = String(embed['description'] ?? '');
        expect(shown.length).toBeLessThanOrEqual(4096);
        expect(shown.match(/^```/gm)?.length ?? 0).toSatisfy((fences: number) => fences % 2 === 0);
      }),
      { numRuns: 150 },
    );
  });

  it('has five buttons a row, and lists when there are more than fit', () => {
    const seven = Array.from({ length: 7 }, (_, at) => button(`b${at}`));
    expect(rendered({ buttons: [seven] }).components).toMatchObject([
      { components: { length: 5 } },
      { components: { length: 2 } },
    ]);
    const many = Array.from({ length: 40 }, (_, at) => [button(`b${at}`)]);
    expect(rendered({ buttons: many }).components).toMatchObject([
      { components: [{ type: 3, options: { length: 25 } }] },
      { components: [{ type: 3, options: { length: 15 } }] },
    ]);
  });

  it('fits the longest button id and its question into a custom id', () => {
    const long = button('x'.repeat(64), { askInput: 'Why should this command not run on this machine?' });
    const components = JSON.stringify(rendered({ buttons: [[long]] }).components);
    expect(/"custom_id":"([^"]+)"/.exec(components)?.[1]?.length).toBeLessThanOrEqual(100);
  });
});

describe('tool progress', () => {
  it('is shown as plain lines, the last ones when there are too many', () => {
    const [few = {}] = render({ kind: 'progress', lines: ['💻 terminal: "npm *test*"', 'second'] });
    expect(readPayload(few).content).toBe('💻 terminal: "npm \\*test\\*"\nsecond');
    const [many = {}] = render({
      kind: 'progress',
      lines: Array.from({ length: 500 }, (_, at) => `line ${at}`),
    });
    const { content = '' } = readPayload(many);
    expect(content.length).toBeLessThanOrEqual(2000);
    expect(content.startsWith('…\n')).toBe(true);
    expect(content.endsWith('line 499')).toBe(true);
  });
});

/** The characters of every string in it, names of fields aside. */
function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, item) => sum + textLength(item), 0);
}
