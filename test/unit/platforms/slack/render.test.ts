import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toSlackMarkdown } from '../../../../platforms/format/slack-markdown.ts';
import { toSlackMrkdwn } from '../../../../platforms/format/slack-mrkdwn.ts';
import { slackPayload } from '../../../../platforms/slack/payloads.ts';
import { render, textUnits } from '../../../../platforms/slack/render.ts';
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
    expect(toSlackMarkdown(markdown)).toBe(
      '> quoted\n\n`a < b && c` [site](https://a.b/?x=1) &lt;mailto>\n```\n<!DOCTYPE html>\n```',
    );
  });

  it('unmakes links that lead elsewhere than http, https and mailto', () => {
    expect(
      toSlackMarkdown('[x](javascript:alert(1)) [y](data:text/html,z) [ref]: vbscript:q\n[ref]: file:///etc'),
    ).not.toMatch(/\]\((?:javascript|data)|^\[ref\]: file/m);
    expect(toSlackMrkdwn('[x](javascript:alert(1)) ![i](data:a)')).toBe('x i');
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
    ['| a | **b** |\n|---|---|\n| long | 1 |', '```\na    │ b\n─────┼──\nlong │ 1\n```'],
    ['<https://a.b/c>', '<https://a.b/c|https://a.b/c>'],
  ])('of %j is %j', (markdown, expected) => {
    expect(toSlackMrkdwn(markdown)).toBe(expected);
  });
});

describe('a long text', () => {
  const codeOf = (payload: unknown) => slackPayload.parse(payload);

  it('is split by its length after escaping', () => {
    const payloads = render({ kind: 'text', markdown: '<&> '.repeat(1500) }).map(codeOf);
    expect(payloads.length).toBeGreaterThan(4);
    for (const payload of payloads) {
      if (payload.kind !== 'text') throw new Error('not a text');
      expect(payload.markdown.length).toBeLessThanOrEqual(textUnits);
    }
  });

  it('stays whole when it is short enough', () => {
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
