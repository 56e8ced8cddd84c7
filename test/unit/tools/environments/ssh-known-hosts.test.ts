import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { parseKnownHosts } from '../../../../tools/environments/ssh-known-hosts.ts';

function keyOf(type: string, body: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(type.length);
  return Buffer.concat([length, Buffer.from(type), Buffer.from(body)]);
}
const line = (names: string, key: Buffer, type = 'ssh-ed25519') =>
  `${names} ${type} ${key.toString('base64')}`;

const good = keyOf('ssh-ed25519', 'good');
const bad = keyOf('ssh-ed25519', 'bad');

test('a host is known by name, by list, by pattern and by port', () => {
  const hosts = parseKnownHosts(
    [line('a.example,10.0.0.1', good), line('*.lab,!bad.lab', good), line('[b.example]:2222', good)].join(
      '\n',
    ),
  );
  expect(hosts.check('a.example', 22, good).kind).toBe('known');
  expect(hosts.check('10.0.0.1', 22, good).kind).toBe('known');
  expect(hosts.check('x.lab', 22, good).kind).toBe('known');
  expect(hosts.check('bad.lab', 22, good).kind).toBe('unknown');
  expect(hosts.check('b.example', 2222, good).kind).toBe('known');
  expect(hosts.check('b.example', 22, good).kind).toBe('unknown');
});

test('a hashed name is recognised', () => {
  const salt = Buffer.from('twenty bytes of salt');
  const hash = createHmac('sha1', salt).update('secret.example').digest('base64');
  const hosts = parseKnownHosts(line(`|1|${salt.toString('base64')}|${hash}`, good));
  expect(hosts.check('secret.example', 22, good).kind).toBe('known');
  expect(hosts.check('other.example', 22, good).kind).toBe('unknown');
});

test('a changed key names its lines, those of the same type first', () => {
  const rsa = keyOf('ssh-rsa', 'r');
  const hosts = parseKnownHosts(['# comment', line('h', rsa, 'ssh-rsa'), '', line('h', good)].join('\n'));
  expect(hosts.check('h', 22, bad)).toEqual({ kind: 'changed', lines: [4] });
  expect(hosts.check('h', 22, keyOf('ecdsa-sha2-nistp256', 'e'))).toEqual({ kind: 'changed', lines: [2, 4] });
  expect(hosts.keyTypes('h', 22)).toEqual(['ssh-rsa', 'ssh-ed25519']);
});

test('a revoked key is refused even where it is also listed', () => {
  const hosts = parseKnownHosts([line('h', good), `@revoked ${line('*', good)}`].join('\n'));
  expect(hosts.check('h', 22, good)).toEqual({ kind: 'revoked', lines: [2] });
});
