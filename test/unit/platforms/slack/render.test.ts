import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { safeMarkdown } from '../../../../platforms/slack/markdown-block.ts';
import { toMrkdwn } from '../../../../platforms/slack/mrkdwn.ts';
import { slackPayload } from '../../../../platforms/slack/payloads.ts';
import { render, textUnits } from '../../../../platforms/slack/render.ts';
import { splitMarkdown } from '../../../../platforms/slack/split.ts';
import { textMessage } from '../../../../platforms/slack/text-message.ts';
import { messageBlocks, pings } from '../../../emulators/slack/blocks.ts';

/** Text as a hostile or clumsy model writes it. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '<!channel>',
        '<!here|x>',
        '<@U123>',
        '<#C1|a>',
        '<!subteam^S1>',
        '&lt;!here&gt;',
        '`',
        '``',
        '```',
        '\n',
      ),
      fc.constantFrom(
        '```js\n',
        '\n```\n',
        '~~~\n',
        '[x](javascript:alert(1))',
        '[x](http://a.b)',
        '**',
        '_',
        '| a | b |\n',
        '> ',
      ),
      fc.constantFrom(
        '😀',
        'שלום',
        'word ',
        '\n\n',
        '  - item\n',
        '# ',
        '<',
        '>',
        '&',
        '\\',
        '](',
        ')',
        '[',
        '<javascript:x>',
      ),
      fc.string({ maxLength: 12 }),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''));

describe('text for Slack', () => {
  it('pings nobody in any form, whatever a model writes', () => {
    fc.assert(
      fc.property(hostile, (markdown) => {
        for (const payload of render({ kind: 'text', markdown })) {
          const text = slackPayload.parse(payload);
          if (text.kind !== 'text') throw new Error('not a text');
          for (const form of ['markdown', 'mrkdwn'] as const) {
            const message = textMessage(text, form);
            expect(pings(String(message['text']), messageBlocks.parse(message['blocks']))).toBe(false);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('fits Slack’s limits in any form, each part within the limit', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 5, maxLength: 40 }), (parts) => {
        for (const payload of render({ kind: 'text', markdown: parts.join(' ') })) {
          const text = slackPayload.parse(payload);
          if (text.kind !== 'text') throw new Error('not a text');
          expect(messageBlocks.safeParse(textMessage(text, 'markdown')['blocks']).error).toBeUndefined();
          expect(messageBlocks.safeParse(textMessage(text, 'mrkdwn')['blocks']).error).toBeUndefined();
          expect(String(textMessage(text, 'markdown')['text']).length).toBeLessThanOrEqual(4000);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('keeps code, quotes and safe links as they are', () => {
    const markdown = '> quoted\n\n`a < b && c` [site](https://a.b/?x=1) <mailto>\n```\n<!DOCTYPE html>\n```';
    expect(safeMarkdown(markdown)).toBe(
      '> quoted\n\n`a < b && c` [site](https://a.b/?x=1) &lt;mailto>\n```\n<!DOCTYPE html>\n```',
    );
  });

  it('unmakes links that lead elsewhere than http, https and mailto', () => {
    expect(
      safeMarkdown('[x](javascript:alert(1)) [y](data:text/html,z) [ref]: vbscript:q\n[ref]: file:///etc'),
    ).not.toMatch(/\]\((?:javascript|data)|^\[ref\]: file/m);
    expect(toMrkdwn('[x](javascript:alert(1)) ![i](data:a)')).toBe('x i');
  });
});

describe('mrkdwn', () => {
  it.each([
    ['**bold** *it* ~~no~~ `a<b`', '*bold* _it_ ~no~ `a&lt;b`'],
    ['# Title', '*Title*'],
    ['**[a](http://x.y/)**', '*<http://x.y/|a>*'],
    ['- one\n- two\n  - deep', '• one\n• two\n    • deep'],
    ['3. three\n4. four', '3. three\n4. four'],
    ['- [x] done\n- [ ] open', '☑ done\n☐ open'],
    ['> a\n> b', '> a\n> b'],
    ['a & b < c', 'a &amp; b &lt; c'],
    ['```sh\nrm <x>\n```', '```\nrm &lt;x&gt;\n```'],
    ['| a | **b** |\n|---|---|\n| long | 1 |', '```\na    | b\n-----|--\nlong | 1\n```'],
    ['<https://a.b/c>', '<https://a.b/c|https://a.b/c>'],
  ])('of %j is %j', (markdown, expected) => {
    expect(toMrkdwn(markdown)).toBe(expected);
  });
});

describe('splitting', () => {
  const prose = fc
    .array(fc.constantFrom('word', 'a', '😀', '\n', '\n\n', ' ', 'שלום', 'x'.repeat(50)), { maxLength: 200 })
    .map((parts) => parts.join(' '));

  it('loses nothing but white space at the cuts', () => {
    fc.assert(
      fc.property(prose, fc.integer({ min: 40, max: 200 }), (text, limit) => {
        const parts = splitMarkdown(text, limit);
        expect(parts.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
        expect(parts.every((part) => part.length <= limit)).toBe(true);
      }),
    );
  });

  it('never cuts a surrogate pair', () => {
    const parts = splitMarkdown('a'.repeat(95) + '😀'.repeat(20), 101);
    expect(parts.every((part) => part.isWellFormed())).toBe(true);
  });

  it('closes a fence at the cut and opens it again with its language', () => {
    const code = Array.from({ length: 40 }, (_line, index) => `line ${index}`).join('\n');
    const parts = splitMarkdown(`Look:\n\`\`\`js\n${code}\n\`\`\`\nDone`, 120);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) expect((part.match(/^```/gm) ?? []).length % 2).toBe(0);
    expect(parts[1]?.startsWith('```js\n')).toBe(true);
    for (let index = 0; index < 40; index += 1) expect(parts.join('\n')).toContain(`line ${index}`);
    expect(parts.at(-1)).toContain('Done');
  });

  it('leaves a short text whole', () => {
    expect(render({ kind: 'text', markdown: 'x'.repeat(textUnits) })).toHaveLength(1);
    expect(render({ kind: 'text', markdown: ' \n ' })).toHaveLength(0);
  });
});

describe('progress', () => {
  it('shows the newest lines that fit, escaped', () => {
    const [payload] = render({
      kind: 'progress',
      lines: [...Array(100).fill('x'.repeat(100)), '💻 "<!here>"'],
    });
    const { blocks } = { blocks: [], ...payload };
    expect(messageBlocks.safeParse(blocks).error).toBeUndefined();
    expect(JSON.stringify(blocks)).toContain('&lt;!here&gt;');
    expect(render({ kind: 'progress', lines: [] })).toEqual([]);
  });
});
