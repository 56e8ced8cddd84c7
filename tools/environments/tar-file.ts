import { posix } from 'node:path';

const blockBytes = 512;

/**
 * A tar archive of one file, as POSIX.1-1988 (ustar) lays it out. `path` has no slash at its start and at most 255
 * bytes: 100 in the name, what is before them in the prefix.
 */
export function tarFile(path: string, data: Uint8Array): Buffer {
  const header = Buffer.alloc(blockBytes);
  const { name, prefix } = splitPath(path);
  header.write(name, 0);
  header.write('0000600\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${data.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  header.write(prefix, 345);
  // The sum is made with its own field as spaces.
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padding = Buffer.alloc((blockBytes - (data.length % blockBytes)) % blockBytes);
  return Buffer.concat([header, data, padding, Buffer.alloc(2 * blockBytes)]);
}

function splitPath(path: string): { name: string; prefix: string } {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: '' };
  const name = posix.basename(path);
  const prefix = posix.dirname(path);
  if (Buffer.byteLength(name) > 100 || Buffer.byteLength(prefix) > 155) {
    throw new RangeError(`The path is too long for an archive: ${path}`);
  }
  return { name, prefix };
}
