import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';

const inflate = promisify(inflateRaw);
const maxEntryBytes = 20_000_000;
const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const endRecordBytes = 22;
const longestComment = 65_535;

/**
 * Unpacks the members of a zip file whose names `wanted` accepts, as office documents need it: stored or deflated,
 * no encryption, no zip64. Rejects on anything else and on members above 20 MB.
 */
export async function unzip(
  data: Uint8Array,
  wanted: (name: string) => boolean,
): Promise<Map<string, string>> {
  const zip = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const end = findEnd(zip);
  const count = zip.readUInt16LE(end + 10);
  let at = zip.readUInt32LE(end + 16);
  const members = new Map<string, string>();
  for (let index = 0; index < count; index += 1) {
    if (zip.readUInt32LE(at) !== entrySignature) throw new Error('The zip directory is damaged.');
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    const next = at + 46 + (nameBytes ?? 0) + (extraBytes ?? 0) + (commentBytes ?? 0);
    const name = zip.toString('utf8', at + 46, at + 46 + (nameBytes ?? 0));
    if (wanted(name)) members.set(name, await unpack(zip, at));
    at = next;
  }
  return members;
}

async function unpack(zip: Buffer, entry: number): Promise<string> {
  const method = zip.readUInt16LE(entry + 10);
  const packedBytes = zip.readUInt32LE(entry + 20);
  const local = zip.readUInt32LE(entry + 42);
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const packed = zip.subarray(start, start + packedBytes);
  if (method === 0) return packed.toString('utf8');
  if (method !== 8)
    throw new Error(`The zip file uses compression method ${method}, which is not supported.`);
  return (await inflate(packed, { maxOutputLength: maxEntryBytes })).toString('utf8');
}

function findEnd(zip: Buffer): number {
  const earliest = Math.max(0, zip.length - endRecordBytes - longestComment);
  for (let at = zip.length - endRecordBytes; at >= earliest; at -= 1) {
    if (zip.readUInt32LE(at) === endSignature) return at;
  }
  throw new Error('This is no zip file.');
}
