import fc from 'fast-check';

const pieces = [
  'word ',
  'two words',
  '**bold**',
  '_it_',
  '`code`',
  '``a ` b``',
  '[x](https://a.b/c?d=1&e=2)',
  '[x](javascript:alert(1))',
  '<b>',
  '</b>',
  '<!channel>',
  '@everyone',
  '<@U123>',
  '&amp;',
  '&',
  '\n',
  '\n\n',
  '\n- item',
  '\n1. one',
  '\n> quote',
  '\n```ts\nlet a = 1 < 2;\n```\n',
  '\n~~~\nx\n~~~\n',
  '\n| a | b |\n|---|---|\n| 1 | **2** |\n',
  '# H\n',
  '😀',
  '👩‍👩‍👧‍👦',
  'שלום ',
  'مرحبا ',
  '日本語',
  '*',
  '_',
  '[',
  '](',
  '`',
  '```',
  '![p](https://e.v/x.png)',
  '[me](tg://user?id=1)',
  '$x^2$',
  '~~no~~',
  '\\',
  '\t',
  '---\n',
  'e\u0301',
];

/** Markdown as models write it, and as they should not. */
export const someMarkdown = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...pieces) },
      fc.string({ unit: 'binary', maxLength: 20 }),
    ),
    { maxLength: 120 },
  )
  .map((parts) => parts.join(''));

/** The fate of every issue: what a model may be talked into writing. */
export const hostileMarkdown = '<!channel> @everyone <@U123> [x](javascript:alert(1))';
