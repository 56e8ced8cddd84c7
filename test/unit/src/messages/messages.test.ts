import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../../../src/errors.ts';
import { commands } from '../../../../src/gateway/commands/index.ts';
import { en } from '../../../../src/messages/en.ts';
import { failureText, messagesFor } from '../../../../src/messages/messages.ts';
import { ru } from '../../../../src/messages/ru.ts';

describe('the catalogue', () => {
  test.each([
    ['ru', ru],
    ['ru-RU', ru],
    ['RU_ru', ru],
    ['en-GB', en],
    ['fr', en],
    ['', en],
    ['constructor', en],
    [undefined, en],
  ])('of %s is chosen by the language alone, English where there is none', (locale, catalogue) => {
    expect(messagesFor(locale)).toBe(catalogue);
  });

  test.each([
    ['en', en],
    ['ru', ru],
  ])('in %s describes every command and no other', (_, { commands: texts }) => {
    expect(Object.keys(texts.about).sort()).toEqual([...commands.keys()].sort());
  });

  test('has the same texts in both languages, none of them empty', () => {
    expect(namesOf(ru)).toEqual(namesOf(en));
    expect([...emptyOf(en), ...emptyOf(ru)]).toEqual([]);
  });

  test('in Russian has no text left in English', () => {
    const untranslated = textsOf(ru).filter(
      ([, text]) => /\p{L}/u.test(text) && !/\p{Script=Cyrillic}/u.test(text),
    );
    expect(untranslated).toEqual([]);
  });
});

function textsOf(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => textsOf(item, `${path}.${key}`));
}

function emptyOf(value: object): string[] {
  return textsOf(value).flatMap(([path, text]) => (text.trim() === '' ? [path] : []));
}

function namesOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, item]) => namesOf(item, `${path}.${key}`));
}

describe('counts', () => {
  test.each([
    [1, '1 запрос.'],
    [2, '2 запроса.'],
    [5, '5 запросов.'],
    [11, '11 запросов.'],
    [21, '21 запрос.'],
    [112, '112 запросов.'],
  ])('%i in Russian has its plural form', (count, ending) => {
    expect(ru.commands.approvedCount(count)).toContain(ending);
  });

  test('in English are one or many', () => {
    expect([en.commands.deniedCount(1), en.commands.deniedCount(0)]).toEqual([
      '⛔ 1 request denied.',
      '⛔ 0 requests denied.',
    ]);
  });
});

describe('the line that ends a card', () => {
  test('names who, when and for how long', () => {
    const words = { kind: 'approved', choice: 'once', by: 'Ann', time: '12:31' } as const;
    expect(en.card.outcome(words)).toBe('✅ Approved once by Ann, 12:31');
    expect(en.card.outcome({ ...words, choice: 'session' })).toBe(
      '✅ Approved for this session by Ann, 12:31',
    );
  });

  test('gives the reason of a denial, where there is one', () => {
    const words = { kind: 'denied', by: 'Ann', time: '12:31' } as const;
    expect(en.card.outcome(words)).toBe('⛔ Denied by Ann, 12:31');
    expect(en.card.outcome({ ...words, reason: 'not today' })).toBe('⛔ Denied by Ann, 12:31: not today');
  });

  test.each(['expired', 'superseded'] as const)('says of an %s request that nothing ran', (kind) => {
    expect(en.card.outcome({ kind })).toContain('did not run');
    expect(ru.card.outcome({ kind })).toContain('Не выполнено');
  });
});

test('a failure is one sentence, a next step and the id that the log has', () => {
  expect(en.turn.failed('The provider refused the key.', 'Check OPENAI_API_KEY.', 'ab12')).toBe(
    '⚠️ The provider refused the key. Check OPENAI_API_KEY. (error ab12)',
  );
});

test('a failure is told in the reader’s language, and in the error’s own words where there are no others', () => {
  const error = new GatewayError('model_unauthorized', 'The provider refused the key.', {
    mend: 'Check it.',
  });
  expect(failureText(en, error, 'x')).toBe('⚠️ The provider refused the key. Check it. (error x)');
  expect(failureText(ru, error, 'x')).toBe(
    '⚠️ Провайдер модели не принял ключ. Проверьте OPENAI_API_KEY. (ошибка x)',
  );
  expect(failureText(ru, new GatewayError('usage', 'What?'), 'x')).toBe('⚠️ What? (ошибка x)');
});
