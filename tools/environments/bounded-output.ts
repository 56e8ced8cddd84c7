/**
 * Keeps the head (40 %) and the tail (60 %) of a stream of bytes, so that a command that prints 100 MB costs no more
 * memory than its limit. Text is decoded once at the end, so no character is broken at a chunk's border.
 */
export interface BoundedOutput {
  append(chunk: Uint8Array): void;
  /** The text kept, with a line that says how much is missing where the middle was left out. */
  text(): string;
  omittedBytes(): number;
}

const headShare = 0.4;

export function createBoundedOutput(maxBytes: number): BoundedOutput {
  const headLimit = Math.floor(maxBytes * headShare);
  const tailLimit = maxBytes - headLimit;
  const head: Uint8Array[] = [];
  const tail: Uint8Array[] = [];
  let headBytes = 0;
  let tailBytes = 0;
  let omitted = 0;

  function dropOldest(): void {
    while (tailBytes > tailLimit) {
      const first = tail[0];
      if (first === undefined) return;
      const excess = tailBytes - tailLimit;
      const dropped = Math.min(excess, first.length);
      if (dropped === first.length) tail.shift();
      else tail[0] = first.subarray(dropped);
      tailBytes -= dropped;
      omitted += dropped;
    }
  }

  return {
    append(chunk) {
      const forHead = Math.min(headLimit - headBytes, chunk.length);
      if (forHead > 0) {
        // A copy: the reader's buffer is larger than what is kept of it, and would stay alive with it.
        head.push(chunk.slice(0, forHead));
        headBytes += forHead;
      }
      if (forHead === chunk.length) return;
      const rest = chunk.slice(Math.max(forHead, chunk.length - tailLimit));
      omitted += chunk.length - forHead - rest.length;
      tail.push(rest);
      tailBytes += rest.length;
      dropOldest();
    },
    text() {
      if (omitted === 0) return Buffer.concat([...head, ...tail]).toString('utf8');
      const start = withoutCutEnd(Buffer.concat(head)).toString('utf8');
      const end = withoutCutStart(Buffer.concat(tail)).toString('utf8');
      return `${start}\n[… omitted ${omitted.toLocaleString('en')} bytes …]\n${end}`;
    },
    omittedBytes: () => omitted,
  };
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** Drops the bytes of a character whose beginning was left out. */
function withoutCutStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}

/** Drops the bytes of a character whose end was left out. */
function withoutCutEnd(bytes: Buffer): Buffer {
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && isContinuation(bytes[lead])) lead -= 1;
  const first = bytes[lead];
  if (first === undefined) return bytes;
  const width = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return bytes.length - lead < width ? bytes.subarray(0, lead) : bytes;
}
