import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { errorMessage, GatewayError } from '../../src/errors.ts';

/** Longest that the engine may take for one answer, in milliseconds. A hung engine must not hang a chat. */
const answerMs = 15_000;

type Env = Readonly<Record<string, string | undefined>>;

/** Opens a client for the engine at `host`, or where Docker and podman usually listen. Nothing is sent yet. */
export async function openEngine(
  host: string | undefined,
  env: Env,
  exists: (path: string) => boolean = existsSync,
): Promise<Docker> {
  const { default: Client } = await import('dockerode');
  const address = host || env['DOCKER_HOST'] || `unix://${usualSockets(env).find(exists) ?? dockerSocket}`;
  if (address.startsWith('unix://')) return new Client({ socketPath: address.slice('unix://'.length) });
  const url = new URL(address);
  const protocol = url.protocol === 'ssh:' ? 'ssh' : url.protocol === 'https:' ? 'https' : 'http';
  return new Client({
    protocol,
    host: url.hostname,
    port: url.port || (protocol === 'ssh' ? 22 : 2375),
    ...(url.username !== '' && { username: url.username }),
  });
}

const dockerSocket = '/var/run/docker.sock';

/** Docker's of the machine and of Docker Desktop, then podman's of the machine and of the user. */
function usualSockets(env: Env): string[] {
  const own = env['XDG_RUNTIME_DIR'] || `/run/user/${process.getuid?.() ?? 0}`;
  return [
    dockerSocket,
    join(env['HOME'] || homedir(), '.docker/run/docker.sock'),
    '/run/podman/podman.sock',
    join(own, 'podman/podman.sock'),
  ];
}

/** The engine's answer within its deadline, or a `GatewayError` that says what to do. */
export async function ask<T>(what: string, answer: Promise<T>, limitMs = answerMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new GatewayError('environment_unavailable', slowText(what, limitMs), slow)),
      limitMs,
    );
  });
  try {
    return await Promise.race([answer, late]);
  } catch (error) {
    throw engineError(what, error);
  } finally {
    clearTimeout(timer);
  }
}

const slow = { mend: 'The engine hangs or is overloaded: restart it, or choose another terminal backend.' };
const slowText = (what: string, limitMs: number) =>
  `Docker did not answer within ${limitMs / 1_000} s (${what}).`;

const unreachableCodes: readonly unknown[] = ['ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE', 'EACCES'];

function engineError(what: string, error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (!unreachableCodes.includes(code)) {
    return new GatewayError('environment_unavailable', `Docker refused (${what}): ${errorMessage(error)}`, {
      cause: error,
    });
  }
  const mend =
    code === 'EACCES'
      ? 'Add the user of the gateway to the group docker, or set DOCKER_HOST to a socket that it may use.'
      : 'Start Docker (for example systemctl start docker) or podman (systemctl --user start podman.socket), or set DOCKER_HOST.';
  return new GatewayError(
    'environment_unavailable',
    `Docker cannot be reached (${what}): ${errorMessage(error)}`,
    {
      retryable: code !== 'EACCES',
      mend,
      cause: error,
    },
  );
}

/** The HTTP status of the engine's refusal, also through `ask`; null when it was something else. */
export function statusOf(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  if ('statusCode' in error && typeof error.statusCode === 'number') return error.statusCode;
  return error.cause === undefined ? null : statusOf(error.cause);
}
