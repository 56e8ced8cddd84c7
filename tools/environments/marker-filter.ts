/**
 * Takes the closing marker of a session's command out of its output while it streams, so that neither the limit on
 * kept output nor the order of the two streams is disturbed by it.
 */
export interface MarkerFilter {
  append(chunk: Uint8Array): void;
  /** No more will come: passes on what was held back; the text between the marks, or null. */
  end(): string | null;
  /** The text between the marks as soon as it is in. */
  content(): string | null;
}

export function createMarkerFilter(mark: string, forward: (chunk: Uint8Array) => void): MarkerFilter {
  const opening = Buffer.from(`${mark}:`);
  const closing = Buffer.from(`:${mark}`);
  let held = Buffer.alloc(0);
  let content: string | null = null;

  function pass(bytes: Buffer): void {
    if (bytes.length > 0) forward(bytes);
  }

  function search(): void {
    const start = held.indexOf(opening);
    if (start < 0) {
      const keep = possibleStart(held, opening);
      pass(held.subarray(0, held.length - keep));
      held = held.subarray(held.length - keep);
      return;
    }
    const end = held.indexOf(closing, start + opening.length);
    pass(held.subarray(0, start));
    if (end < 0) {
      held = held.subarray(start);
      return;
    }
    content = held.subarray(start + opening.length, end).toString('utf8');
    pass(held.subarray(end + closing.length));
    held = Buffer.alloc(0);
  }

  return {
    append(chunk) {
      if (content !== null) return forward(chunk);
      held = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
      search();
    },
    end() {
      pass(held);
      held = Buffer.alloc(0);
      return content;
    },
    content: () => content,
  };
}

/** How many of the last bytes may be the beginning of `needle`. */
function possibleStart(bytes: Buffer, needle: Buffer): number {
  for (let length = Math.min(bytes.length, needle.length - 1); length > 0; length -= 1) {
    if (bytes.subarray(bytes.length - length).equals(needle.subarray(0, length))) return length;
  }
  return 0;
}
