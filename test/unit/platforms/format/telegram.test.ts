import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toTelegramHtml } from '../../../../platforms/format/telegram-html.ts';
import { toTelegramRich } from '../../../../platforms/format/telegram-rich.ts';
import { checkTelegramHtml } from '../../../emulators/telegram/html.ts';
import { hostileMarkdown, someMarkdown } from './markdown-samples.ts';

describe('toTelegramHtml', () => {
  test('is accepted by Telegram whatever the Markdown', () => {
    fc.assert(
      fc.property(someMarkdown, (markdown) => {
        expect(checkTelegramHtml(toTelegramHtml(markdown)).error).toBeUndefined();
      }),
    );
  });

  test('pings nobody and links nowhere at the word of a model', () => {
    const html = toTelegramHtml(`${hostileMarkdown} [me](tg://user?id=1)`);
    expect(html).not.toMatch(/@everyone|@U123|<a /);
    expect(html).toContain('&lt;!channel&gt;');
  });

  test('keeps what broken markup says', () => {
    expect(checkTelegramHtml(toTelegramHtml('**a_b [x](y and <div>')).text).toBe('**a_b [x](y and <div>');
  });

  test('shows a table as aligned code', () => {
    const html = toTelegramHtml('| name | n |\n|---|--:|\n| **日本** | 1 |\n| b | 20 |');
    expect(html).toBe('<pre>name │  n\n─────┼───\n日本 │  1\nb    │ 20</pre>');
  });

  test('names the language of code and leaves code alone', () => {
    expect(toTelegramHtml('```js\nif (a < b && **c**) {}\n```')).toBe(
      '<pre><code class="language-js">if (a &lt; b &amp;&amp; **c**) {}</code></pre>',
    );
  });

  test('writes lists with their signs, nested ones indented', () => {
    expect(toTelegramHtml('- a\n  - b\n- [x] c\n\n3. d\n4. e')).toBe('• a\n    • b\n☑ c\n\n3. d\n4. e');
  });

  test('leaves right-to-left text and emoji as they are', () => {
    expect(toTelegramHtml('**שלום** 👩‍👩‍👧‍👦 مرحبا')).toBe('<b>שלום</b> 👩‍👩‍👧‍👦 مرحبا');
  });

  test('reads hostile nesting and delimiters within 20 ms', () => {
    for (const unit of ['>', '*a_', '[', '![', '> - ', '- ', '<a ']) {
      const text = unit.repeat(4096 / unit.length);
      const startedAt = performance.now();
      toTelegramHtml(text);
      expect(performance.now() - startedAt, unit).toBeLessThan(40);
    }
  });
});

describe('toTelegramRich', () => {
  test('leaves ordinary Markdown as it is', () => {
    const markdown =
      '## Title\n\nSome **bold** text, `code` and $x^2$.\n\n- one\n  - two\n\n```ts\nlet a;\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |';
    expect(toTelegramRich(markdown)).toBe(markdown);
  });

  test('keeps single line breaks', () => {
    expect(toTelegramRich('one\ntwo')).toBe('one\\\ntwo');
  });

  test('holds back raw HTML, pictures and links that mention or run', () => {
    const rich = toTelegramRich(
      '<img src="https://e.v/x"> ![p](https://e.v/y.png) [me](tg://user?id=1) [x](javascript:alert(1))',
    );
    expect(rich).toBe('\\<img src="https://e.v/x"> [p](https://e.v/y.png) me x');
  });

  test('is stable: what it wrote reads the same again', () => {
    for (const markdown of ['a\nb', '- x\n  y', '> q\n> r', '1. a\n\n   b']) {
      expect(toTelegramRich(toTelegramRich(markdown))).toBe(toTelegramRich(markdown));
    }
  });
});
