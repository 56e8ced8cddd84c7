import type { SocketModeReceiver } from '@slack/bolt';
import type { Clock } from '../../src/clock.ts';
import { sleep } from '../../src/clock.ts';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { Dispatch } from './dispatch.ts';
import { slackCode, toGatewayError } from './errors.ts';

export interface SocketDeps {
  makeReceiver(): SocketModeReceiver;
  dispatch: Dispatch;
  clock: Clock;
  log: Log;
  /** Called after each reconnection, when events flow again. */
  onResumed(): void;
  onTrouble(error: GatewayError): void;
  /** Called for everything that comes over the socket, and while its pings are answered. */
  alive(): void;
}

export interface Socket {
  /** Resolves when events flow; rejects when the first connection fails. */
  open(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

type Client = SocketModeReceiver['client'];
type SlackEvent = {
  body: Record<string, unknown>;
  ack: (response?: unknown) => Promise<void>;
  retry_num?: number;
};

const helloTimeoutMs = 15_000;
const closeTimeoutMs = 1000;
const heartbeatMs = 10_000;
const firstDelayMs = 500;
const longestDelayMs = 30_000;
/** A socket that ends sooner was no success: the next try waits. */
const shortLifeMs = 10_000;

/**
 * Socket Mode with reconnection of our own: the client's waits its whole ping timeout before it comes back, on every
 * hourly refresh too, and retries a revoked token for ever.
 */
export function createSocket({
  makeReceiver,
  dispatch,
  clock,
  log,
  onResumed,
  onTrouble,
  alive,
}: SocketDeps): Socket {
  const closing = new AbortController();
  let client: Client | undefined;
  let stopHeartbeat: (() => void) | undefined;
  /** Connections in a row that failed or ended at once. */
  let failures = 0;

  function beat(): void {
    // The client closes a socket whose pings stay unanswered, so an open one has just answered.
    stopHeartbeat = clock.after(heartbeatMs, () => {
      if (client?.websocket?.isActive() === true) alive();
      beat();
    });
  }

  async function deliver({ body, ack, retry_num: retryNum }: SlackEvent): Promise<void> {
    alive();
    try {
      const answer = await dispatch.process({ body, ...(retryNum ? { retryNum } : {}) });
      await ack(answer);
    } catch (error) {
      // Not acknowledged: Slack sends it again, and a stored event is recognised by its id.
      log.debug({ reason: errorMessage(error) }, 'Slack: a delivery stays unacknowledged');
    }
  }

  async function connectOnce(signal: AbortSignal): Promise<void> {
    const fresh = makeReceiver().client;
    fresh.on('slack_event', (event: SlackEvent) => void deliver(event));
    const late = AbortSignal.timeout(helloTimeoutMs);
    try {
      await until(fresh.start(), AbortSignal.any([signal, late]));
    } catch (error) {
      void fresh.disconnect();
      if (signal.aborted) throw new GatewayError('cancelled', 'Connecting to Slack was cancelled');
      if (late.aborted || error === undefined) {
        throw new GatewayError('platform_unreachable', 'Slack opened no socket in time', { retryable: true });
      }
      throw appTokenError(toGatewayError(error, 'apps.connections.open', 'repeatable'));
    }
    client = fresh;
    const openedAt = clock.now();
    fresh.once('disconnected', () => {
      failures = clock.now() - openedAt < shortLifeMs ? failures + 1 : 0;
      void reconnect();
    });
    alive();
  }

  async function reconnect(): Promise<void> {
    const { signal } = closing;
    while (!signal.aborted) {
      try {
        if (failures > 1)
          await sleep(clock, Math.min(longestDelayMs, firstDelayMs * 2 ** (failures - 2)), signal);
        await connectOnce(signal);
        return onResumed();
      } catch (error) {
        if (signal.aborted) return;
        failures = Math.max(2, failures + 1);
        const trouble = toGatewayError(error, 'apps.connections.open', 'repeatable');
        onTrouble(trouble);
        if (trouble.code === 'token_invalid') return;
      }
    }
  }

  return {
    async open(signal) {
      await connectOnce(AbortSignal.any([signal, closing.signal]));
      beat();
    },
    async close() {
      closing.abort();
      stopHeartbeat?.();
      const open = client;
      client = undefined;
      if (open === undefined) return;
      await until(open.disconnect(), AbortSignal.timeout(closeTimeoutMs)).catch((error: unknown) => {
        log.debug({ reason: errorMessage(error) }, 'Slack: the socket was left without a farewell');
      });
    },
  };
}

function appTokenError(error: GatewayError): GatewayError {
  if (error.code !== 'token_invalid' && slackCode(error) !== 'missing_scope') return error;
  return new GatewayError('token_invalid', `Slack refused the app-level token: ${error.message}`, {
    mend: 'Make an app-level token with connections:write under Basic Information and put it into SLACK_APP_TOKEN.',
    cause: error.cause,
  });
}

/** The promise's outcome, or the signal's reason if that comes first. */
function until<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
