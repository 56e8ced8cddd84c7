import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSseReader } from '../../../../src/model/sse.ts';

function read(...pieces: string[]): string[] {
  const data: string[] = [];
  const reader = createSseReader((text) => data.push(text));
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return data;
}

describe('the event reader', () => {
  test('hands out the data of each event', () => {
    expect(read('data: a\n\ndata: b\n\n')).toEqual(['a', 'b']);
  });

  test('takes CRLF, no space after the colon, comments and names', () => {
    expect(read(': keep-alive\r\n\r\nevent: x\r\nid: 7\r\ndata:a\r\n\r\n')).toEqual(['a']);
  });

  test('joins the lines of one event', () => {
    expect(read('data: a\ndata: b\n\n')).toEqual(['a\nb']);
  });

  test('hands out a last event without its empty line', () => {
    expect(read('data: a\n\ndata: [DONE]')).toEqual(['a', '[DONE]']);
  });

  test('reads the same however the bytes are cut', () => {
    const text = 'data: {"a": 1}\r\n\r\n: c\n\ndata: b\ndata: c\n\n';
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), (size) => {
        expect(read(...(text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []))).toEqual(read(text));
      }),
    );
  });

  test('refuses an event without an end', () => {
    const reader = createSseReader(() => undefined);
    expect(() => {
      for (let i = 0; i < 18; i += 1) reader.push('x'.repeat(1024 * 1024));
    }).toThrow('16 MB');
  });
});
