import type { SocketModeReceiver } from '@slack/bolt';
import type { Clock } from '../../src/clock.ts';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { PlatformSink } from '../platform.ts';
import type { Dispatch } from './dispatch.ts';
import { createSocket, type Socket } from './socket.ts';
import type { Workspaces } from './workspaces.ts';

/** Without a socket there is no heartbeat; asking who we are is one, and notices a revoked token. */
const httpHeartbeatMs = 60_000;

export interface ConnectionDeps {
  workspaces: Workspaces;
  /** Undefined when events come as HTTP requests. */
  makeReceiver: (() => SocketModeReceiver) | undefined;
  makeDispatch(sink: PlatformSink): Dispatch;
  /** Asks for what came while nobody listened; runs after every connection. */
  catchUp(sink: PlatformSink, signal: AbortSignal): Promise<void>;
  clock: Clock;
  log: Log;
}

export interface Connection {
  open(sink: PlatformSink, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /** Where deliveries go; undefined while closed. */
  dispatch(): Dispatch | undefined;
  alive(): void;
}

/** The life of one connection to Slack: who we are, the socket or the heartbeat, states, catching up. */
export function createConnection(deps: ConnectionDeps): Connection {
  const { workspaces, makeReceiver, makeDispatch, catchUp, clock, log } = deps;
  let life = new AbortController();
  let current: { sink: PlatformSink; dispatch: Dispatch } | undefined;
  let socket: Socket | undefined;
  let cancelHeartbeat: (() => void) | undefined;

  async function open(sink: PlatformSink, signal: AbortSignal): Promise<void> {
    life = new AbortController();
    sink.report({ state: 'connecting' });
    try {
      await workspaces.load(signal);
      const dispatch = makeDispatch(sink);
      current = { sink, dispatch };
      if (makeReceiver === undefined) beat(sink);
      else await openSocket(makeReceiver, dispatch, sink, signal);
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'token_invalid') reportFatal(sink, error);
      await stop();
      throw error;
    }
    flowing(sink);
  }

  async function openSocket(
    receiver: () => SocketModeReceiver,
    dispatch: Dispatch,
    sink: PlatformSink,
    signal: AbortSignal,
  ): Promise<void> {
    socket = createSocket({
      makeReceiver: receiver,
      dispatch,
      clock,
      log,
      onResumed: () => flowing(sink),
      onTrouble(error) {
        if (error.code === 'token_invalid') reportFatal(sink, error);
        else sink.report({ state: 'retrying', reason: error.message });
      },
      alive: () => sink.alive(),
    });
    await socket.open(signal);
  }

  function flowing(sink: PlatformSink): void {
    const account = workspaces.all().map(({ teamName }) => teamName);
    sink.report({ state: 'connected', account: account.join(', ') });
    sink.alive();
    catchUp(sink, life.signal).catch((error: unknown) =>
      log.warn({ reason: errorMessage(error) }, 'Slack: could not catch up'),
    );
  }

  function beat(sink: PlatformSink): void {
    const { signal } = life;
    cancelHeartbeat = clock.after(httpHeartbeatMs, () => {
      workspaces
        .load(signal)
        .then(() => sink.alive())
        .catch((error: unknown) => {
          if (error instanceof GatewayError && error.code === 'token_invalid') reportFatal(sink, error);
        })
        .finally(() => {
          if (!signal.aborted) beat(sink);
        });
    });
  }

  async function stop(): Promise<void> {
    life.abort();
    cancelHeartbeat?.();
    const opened = socket;
    socket = undefined;
    current = undefined;
    await opened?.close();
  }

  return {
    open,
    dispatch: () => current?.dispatch,
    alive: () => current?.sink.alive(),
    async close() {
      const sink = current?.sink;
      await stop();
      sink?.report({ state: 'disconnected' });
    },
  };
}

function reportFatal(sink: PlatformSink, error: GatewayError): void {
  sink.report({
    state: 'fatal',
    code: error.code,
    reason: error.message,
    ...(error.mend === undefined ? {} : { mend: error.mend }),
  });
}
