import type { StreamName } from './transport.ts';

/**
 * Takes Docker's stream of frames apart: a byte of kind, three of nothing, four of length, then the bytes (Engine
 * API: ContainerAttach, stream format). Partial frames are passed on as they come, so nothing is kept.
 */
export function createFrameReader(forward: (stream: StreamName, chunk: Uint8Array) => void) {
  const header = Buffer.alloc(8);
  let headerBytes = 0;
  let left = 0;
  let stream: StreamName = 'stdout';

  return (chunk: Buffer): void => {
    let at = 0;
    while (at < chunk.length) {
      if (left > 0) {
        const part = chunk.subarray(at, at + left);
        forward(stream, part);
        at += part.length;
        left -= part.length;
        continue;
      }
      const copied = chunk.copy(header, headerBytes, at, at + header.length - headerBytes);
      headerBytes += copied;
      at += copied;
      if (headerBytes < header.length) return;
      headerBytes = 0;
      stream = header[0] === 2 ? 'stderr' : 'stdout';
      left = header.readUInt32BE(4);
    }
  };
}
