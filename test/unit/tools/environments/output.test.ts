import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBoundedOutput } from '../../../../tools/environments/bounded-output.ts';
import { createFrameReader } from '../../../../tools/environments/docker-stream.ts';
import { createMarkerFilter } from '../../../../tools/environments/marker-filter.ts';

/** `bytes` in pieces at the given places. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...places, bytes.length].map((end, index) => bytes.subarray(places[index - 1] ?? 0, end));
}

const cuts = fc.array(fc.nat(10_000), { maxLength: 8 });

test('output within the limit comes back whole, however it arrives', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), cuts, (text, places) => {
      const output = createBoundedOutput(10_000);
      for (const piece of pieces(Buffer.from(text), places)) output.append(piece);
      expect(output.text()).toBe(text);
      expect(output.omittedBytes()).toBe(0);
    }),
  );
});

test('beyond the limit head and tail are kept, and every byte is accounted for', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 101, maxLength: 2_000 }), cuts, (bytes, places) => {
      const ascii = Buffer.from(bytes.map((byte) => 97 + (byte % 26)));
      const output = createBoundedOutput(100);
      for (const piece of pieces(ascii, places)) output.append(piece);
      expect(output.omittedBytes()).toBe(ascii.length - 100);
      expect(output.text().startsWith(ascii.subarray(0, 40).toString())).toBe(true);
      expect(output.text().endsWith(ascii.subarray(-60).toString())).toBe(true);
    }),
  );
});

test('a marker is found and removed, however it arrives', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), cuts, (before, after, places) => {
      const passed: Uint8Array[] = [];
      const filter = createMarkerFilter('__M__', (chunk) => passed.push(chunk));
      const whole = Buffer.from(`${before}__M__:saved:/home/x y\nz:__M__${after}`);
      for (const piece of pieces(whole, places)) filter.append(piece);
      expect(filter.end()).toBe('saved:/home/x y\nz');
      expect(Buffer.concat(passed).toString()).toBe(before + after);
    }),
  );
});

test('what only begins like a marker is passed on', () => {
  const passed: string[] = [];
  const filter = createMarkerFilter('__M__', (chunk) => passed.push(Buffer.from(chunk).toString()));
  filter.append(Buffer.from('a __M'));
  filter.append(Buffer.from('_ b __M__:half'));
  expect(filter.end()).toBeNull();
  expect(passed.join('')).toBe('a __M_ b __M__:half');
});

test('frames of a container are told apart, wherever they are cut', () => {
  const frame = (kind: number, text: string) => {
    const header = Buffer.alloc(8);
    header[0] = kind;
    header.writeUInt32BE(Buffer.byteLength(text), 4);
    return Buffer.concat([header, Buffer.from(text)]);
  };
  const whole = Buffer.concat([frame(1, 'out one '), frame(2, 'problem'), frame(1, ''), frame(1, 'two')]);
  fc.assert(
    fc.property(cuts, (places) => {
      const seen = { stdout: '', stderr: '' };
      const read = createFrameReader((stream, chunk) => {
        seen[stream] += Buffer.from(chunk).toString();
      });
      for (const piece of pieces(whole, places)) read(piece);
      expect(seen).toEqual({ stdout: 'out one two', stderr: 'problem' });
    }),
  );
});
