import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseFetched } from '../../../../tools/environments/spool-scripts.ts';

const piece = (name: string, text: string) => `${name}\n${Buffer.from(text).toString('base64')}\n.\n`;
const texts = (fetched: string) =>
  parseFetched(fetched).flatMap((line) =>
    line.kind === 'chunk' ? [`${line.stream} ${line.data.toString()}`] : [],
  );

describe('what a fetch printed', () => {
  test('is pieces of both streams in their order, then the exit, then the end', () => {
    const fetched = `${piece('o.0', 'one')}${piece('e.0', 'two')}${piece('o.1', 'three')}exit 3\nend\n`;
    expect(texts(fetched)).toEqual(['stdout one', 'stderr two', 'stdout three']);
    expect(parseFetched(fetched).slice(3)).toEqual([{ kind: 'exit', code: 3 }, { kind: 'end' }]);
  });

  test('keeps the order within a stream where the clock was too coarse to tell it', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2, 9, 10, 11, 100], { minLength: 7 }), (numbers) => {
        const fetched = numbers.map((number) => piece(`o.${number}`, String(number))).join('');
        expect(texts(fetched)).toEqual([0, 1, 2, 9, 10, 11, 100].map((number) => `stdout ${number}`));
      }),
    );
  });

  test('takes base64 in lines of any length, and nothing for an exit that looks like one', () => {
    const wrapped = `o.0\n${Buffer.from('a longer text').toString('base64').replace(/.{4}/g, '$&\n')}.\n`;
    expect(texts(wrapped)).toEqual(['stdout a longer text']);
    expect(texts(piece('o.0', 'exit 0\nend\n'))).toEqual(['stdout exit 0\nend\n']);
    expect(parseFetched('gone\n')).toEqual([{ kind: 'gone' }]);
  });

  test('leaves out a piece that was cut off on the way', () => {
    expect(parseFetched('o.0\nQUJD')).toEqual([]);
  });
});
