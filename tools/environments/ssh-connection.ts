import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Client, ConnectConfig } from 'ssh2';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { OpenContext, SshOptions } from './options.ts';
import { keyType, readKnownHosts, rememberHost } from './ssh-known-hosts.ts';

const connectMs = 10_000;
const keepAliveMs = 15_000;
/** So many unanswered signs of life, and the connection counts as dead. */
const keepAliveMisses = 3;

interface Host {
  host: string;
  port: number;
  user: string;
}

/** Opens one connection, through the jump host if there is one, to a host whose key is known. */
export async function connectSsh(options: SshOptions, context: OpenContext): Promise<Client> {
  const jump = options.jump === undefined ? null : parseJump(options.jump, options.user);
  if (jump === null) return connectOne(options, options, context);
  const first = await connectOne(jump, options, context);
  const sock = await new Promise<NonNullable<ConnectConfig['sock']>>((resolve, reject) => {
    first.forwardOut('127.0.0.1', 0, options.host, options.port, (error, stream) =>
      error ? reject(connectError(options, error)) : resolve(stream),
    );
  }).catch((error) => {
    first.end();
    throw error;
  });
  const client = await connectOne(options, options, context, sock).catch((error) => {
    first.end();
    throw error;
  });
  client.once('close', () => first.end());
  return client;
}

async function connectOne(
  target: Host,
  options: SshOptions,
  context: OpenContext,
  sock?: ConnectConfig['sock'],
): Promise<Client> {
  // ssh2 is CommonJS: its classes are on the default export.
  const { default: ssh2 } = await import('ssh2');
  const verifier = await hostVerifier(target, options);
  const client = new ssh2.Client();
  const config: ConnectConfig = {
    host: target.host,
    port: target.port,
    username: target.user,
    readyTimeout: connectMs,
    keepaliveInterval: keepAliveMs,
    keepaliveCountMax: keepAliveMisses,
    hostVerifier: verifier.verify,
    ...verifier.algorithms,
    ...(await credentials(options, context)),
    ...(sock !== undefined && { sock }),
  };
  await new Promise<void>((resolve, reject) => {
    client.once('ready', () => resolve());
    // Stays: ssh2 may tell several errors, and one that nobody hears would end the process. After the start an error
    // is followed by `close`, which everybody who uses the connection listens to.
    client.on('error', (error) => {
      context.log.warn({ error: errorMessage(error) }, 'The ssh connection failed.');
      client.end();
      reject(verifier.refusal() ?? connectError(target, error));
    });
    try {
      client.connect(config);
    } catch (error) {
      // A key that cannot be read is thrown at once.
      reject(connectError(target, error));
    }
  });
  // Else small packets wait 40 ms for the acknowledgement of the one before.
  client.setNoDelay(true);
  return client;
}

/** With a key only that key is offered (IdentitiesOnly): a server that counts tries must not lock the user out. */
async function credentials(options: SshOptions, { env }: OpenContext): Promise<Partial<ConnectConfig>> {
  if (options.key !== undefined && options.key !== '') {
    const path = options.key.replace(/^~(?=\/)/, homedir());
    const privateKey = await readFile(path).catch((error) => {
      throw new GatewayError(
        'environment_refused',
        `The ssh key ${path} cannot be read: ${errorMessage(error)}`,
        {
          mend: 'Set terminal.ssh_key (TERMINAL_SSH_KEY) to the file of a private key.',
          cause: error,
        },
      );
    });
    return { privateKey, ...(options.passphrase !== undefined && { passphrase: options.passphrase }) };
  }
  const agent = env['SSH_AUTH_SOCK'];
  if (agent !== undefined && agent !== '') return { agent };
  throw new GatewayError('environment_refused', 'There is no ssh key and no ssh agent.', {
    mend: 'Set TERMINAL_SSH_KEY to a private key, or start the gateway with SSH_AUTH_SOCK of an agent.',
  });
}

/** Compares the server's key with known_hosts, and keeps why it was refused. */
async function hostVerifier(target: Host, options: SshOptions) {
  const path = options.knownHosts ?? join(homedir(), '.ssh/known_hosts');
  const known = await readKnownHosts(path);
  const types = [...new Set(known.keyTypes(target.host, target.port))].flatMap(algorithmsOf);
  let refusal: GatewayError | null = null;

  function verify(key: Buffer, answer: (valid: boolean) => void): void {
    const verdict = known.check(target.host, target.port, key);
    const isNew = verdict.kind === 'unknown' && options.hostKeys === 'accept-new';
    if (verdict.kind !== 'known' && !isNew) {
      const lines = 'lines' in verdict ? verdict.lines : [];
      refusal = hostKeyError(target, path, verdict.kind, keyType(key), lines);
      answer(false);
      return;
    }
    if (!isNew) {
      answer(true);
      return;
    }
    rememberHost(path, target.host, target.port, key).then(
      () => answer(true),
      (error) => {
        refusal = connectError(target, error);
        answer(false);
      },
    );
  }

  return {
    verify,
    refusal: () => refusal,
    algorithms: types.length === 0 ? {} : { algorithms: { serverHostKey: types } },
  };
}

type HostKeyAlgorithm =
  NonNullable<NonNullable<ConnectConfig['algorithms']>['serverHostKey']> extends infer List
    ? List extends readonly (infer Item)[]
      ? Item
      : never
    : never;

const algorithms: Readonly<Record<string, readonly HostKeyAlgorithm[]>> = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
};
const algorithmsOf = (type: string) => algorithms[type] ?? [];

function hostKeyError(
  { host, port }: Host,
  path: string,
  kind: 'unknown' | 'changed' | 'revoked' | 'known',
  type: string,
  lines: readonly number[],
): GatewayError {
  if (kind === 'unknown') {
    return new GatewayError('environment_refused', `The ssh host ${host} is not in ${path}.`, {
      mend: `Compare its key (ssh-keyscan -p ${port} ${host}) with the one that its owner tells, add it to ${path}, or set terminal.ssh_host_keys to accept-new.`,
    });
  }
  const where = lines.map((line) => `line ${line}`).join(', ');
  const remove = lines.map((line) => `${line}d`).join(';');
  return new GatewayError(
    'environment_refused',
    `The ${type} key of the ssh host ${host} is ${kind} (${path}, ${where}). Somebody may be listening in.`,
    { mend: `Only if its owner confirms the new key, remove the old one: sed -i '${remove}' ${path}` },
  );
}

function connectError({ host, port, user }: Host, error: unknown): GatewayError {
  const text = errorMessage(error);
  const level = error instanceof Error && 'level' in error ? error.level : undefined;
  if (level === 'client-authentication' || /passphrase|parse|private key/i.test(text)) {
    return new GatewayError('environment_refused', `The ssh host ${host} did not let ${user} in: ${text}`, {
      mend: 'Check TERMINAL_SSH_USER and TERMINAL_SSH_KEY (TERMINAL_SSH_PASSPHRASE for a key with one), and authorized_keys there.',
      cause: error,
    });
  }
  return new GatewayError(
    'environment_unavailable',
    `The ssh host ${host}:${port} cannot be reached: ${text}`,
    {
      retryable: true,
      mend: 'Check TERMINAL_SSH_HOST and TERMINAL_SSH_PORT, and that the host is up.',
      cause: error,
    },
  );
}

function parseJump(text: string, user: string): Host {
  const match = /^(?:([^@]+)@)?([^:]+)(?::(\d+))?$/.exec(text);
  return { user: match?.[1] ?? user, host: match?.[2] ?? text, port: Number(match?.[3] ?? 22) };
}
