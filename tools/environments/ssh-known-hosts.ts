import { createHmac } from 'node:crypto';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** `known_hosts` as sshd(8) describes it: patterns, hashed names, ports in brackets, markers. */
export interface KnownHosts {
  /** Key types on file for the host, to ask the server for one of them. */
  keyTypes(host: string, port: number): string[];
  check(host: string, port: number, key: Uint8Array): HostKeyVerdict;
}

export type HostKeyVerdict =
  | { kind: 'known' }
  | { kind: 'unknown' }
  /** The lines that speak against the key, counted from 1. */
  | { kind: 'changed'; lines: readonly number[] }
  | { kind: 'revoked'; lines: readonly number[] };

interface Entry {
  line: number;
  marker: string;
  names: string;
  type: string;
  key: string;
}

export async function readKnownHosts(path: string): Promise<KnownHosts> {
  const text = await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return parseKnownHosts(text);
}

export function parseKnownHosts(text: string): KnownHosts {
  const entries = text.split('\n').flatMap(parseLine);
  const entriesOf = (host: string, port: number) =>
    entries.filter(({ names }) => matches(names, hostName(host, port)));
  return {
    keyTypes: (host, port) =>
      entriesOf(host, port)
        .filter(({ marker }) => marker === '')
        .map(({ type }) => type),
    check(host, port, key) {
      const shown = Buffer.from(key).toString('base64');
      const mine = entriesOf(host, port);
      const revoked = mine.filter((entry) => entry.marker === '@revoked' && entry.key === shown);
      if (revoked.length > 0) return { kind: 'revoked', lines: revoked.map(({ line }) => line) };
      const plain = mine.filter(({ marker }) => marker === '');
      if (plain.some((entry) => entry.key === shown)) return { kind: 'known' };
      if (plain.length === 0) return { kind: 'unknown' };
      const sameType = plain.filter(({ type }) => type === keyType(key));
      return { kind: 'changed', lines: (sameType.length > 0 ? sameType : plain).map(({ line }) => line) };
    },
  };
}

/** Adds a host that was accepted for the first time. */
export async function rememberHost(path: string, host: string, port: number, key: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const line = `${hostName(host, port)} ${keyType(key)} ${Buffer.from(key).toString('base64')}\n`;
  await appendFile(path, line, { mode: 0o600 });
}

/** The name of the key's type, which its encoding begins with (RFC 4253, 6.6). */
export function keyType(key: Uint8Array): string {
  const bytes = Buffer.from(key);
  const length = bytes.length >= 4 ? bytes.readUInt32BE(0) : 0;
  return bytes.subarray(4, 4 + length).toString('latin1');
}

const hostName = (host: string, port: number) => (port === 22 ? host : `[${host}]:${port}`).toLowerCase();

function parseLine(text: string, index: number): Entry[] {
  const words = text.trim().split(/\s+/);
  if (text.trim() === '' || text.trim().startsWith('#')) return [];
  const marker = words[0]?.startsWith('@') ? (words.shift() ?? '') : '';
  const [names = '', type = '', key = ''] = words;
  return key === '' ? [] : [{ line: index + 1, marker, names, type, key }];
}

function matches(names: string, host: string): boolean {
  if (names.startsWith('|1|')) return matchesHash(names, host);
  const patterns = names.toLowerCase().split(',');
  const refused = patterns.some((pattern) => pattern.startsWith('!') && glob(pattern.slice(1), host));
  return !refused && patterns.some((pattern) => !pattern.startsWith('!') && glob(pattern, host));
}

function matchesHash(names: string, host: string): boolean {
  const [, , salt = '', hash = ''] = names.split('|');
  return createHmac('sha1', Buffer.from(salt, 'base64')).update(host).digest('base64') === hash;
}

function glob(pattern: string, host: string): boolean {
  const shape = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${shape}$`).test(host);
}
