import type { Client } from 'discord.js';
import { z } from 'zod';
import type { Clock } from '../../src/clock.ts';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { PlatformSink } from '../platform.ts';
import type { DiscordApi } from './api.ts';
import type { Library } from './client.ts';

/** discord.com/developers/docs/resources/application#application-object-application-flags */
const messageContentFlags = (1 << 18) | (1 << 19);
const applicationShape = z.object({ id: z.string(), flags: z.number().default(0) });

/** discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes */
const closeCode = { authenticationFailed: 4004, shardingRequired: 4011, disallowedIntents: 4014 } as const;

export interface Connection {
  applicationId: string;
  close(): Promise<void>;
}

export interface ConnectionDeps {
  library: Library;
  client: Client;
  api: DiscordApi;
  token: string;
  clock: Clock;
  log: Log;
}

export interface ConnectionEvents {
  /** A dispatch as it came off the wire. */
  dispatch(type: 'MESSAGE_CREATE' | 'MESSAGE_UPDATE' | 'INTERACTION_CREATE', data: unknown): void;
  /** A new session begins, so Discord replays nothing of what came before it. */
  sessionStarts(shardId: number): void;
  /** All servers of a new session are known. */
  sessionReady(shardId: number): void;
  heartbeat(): void;
}

/**
 * Logs in and resolves once events flow. Discord.js mends broken connections by itself; what it cannot mend (a token
 * or an intent taken away) is reported as fatal.
 */
export async function openConnection(
  { library, client, api, token, clock, log }: ConnectionDeps,
  events: ConnectionEvents,
  sink: PlatformSink,
  signal: AbortSignal,
): Promise<Connection> {
  sink.report({ state: 'connecting' });
  const close = () => client.destroy();
  try {
    const application = await checkApplication(api, signal);
    const fatal = watch(client, library, events, sink, log);
    const ready = new Promise<Client<true>>((resolve) => client.once(library.Events.ClientReady, resolve));
    const login = client.login(token).then(() => ready);
    const opened = await Promise.race([login, fatal, aborted(signal)]);
    const stopPulse = watchPulse(opened, clock, events);
    sink.report({ state: 'connected', account: opened.user.tag });
    return {
      applicationId: application.id,
      async close() {
        stopPulse();
        client.removeAllListeners(library.Events.ShardReconnecting);
        await close();
        sink.report({ state: 'disconnected' });
      },
    };
  } catch (error) {
    await close();
    throw connectFailure(error, sink);
  }
}

function connectFailure(thrown: unknown, sink: PlatformSink): GatewayError {
  const error =
    thrown instanceof GatewayError
      ? thrown
      : new GatewayError('platform_unreachable', `Discord could not be reached: ${errorMessage(thrown)}.`, {
          retryable: true,
          mend: 'Check the network and DISCORD_API_ROOT.',
        });
  if (error.code === 'intent_missing' || error.code === 'token_invalid') reportFatal(error, sink);
  return error;
}

function reportFatal({ code, message, mend }: GatewayError, sink: PlatformSink): void {
  sink.report({ state: 'fatal', code, reason: message, ...(mend === undefined ? {} : { mend }) });
}

/** The switch for message text is looked at before a connection is opened: a closed one says less. */
async function checkApplication(api: DiscordApi, signal: AbortSignal) {
  const application = await api.call(
    { method: 'get', path: '/applications/@me', what: 'say whose token this is', signal },
    applicationShape,
  );
  if ((application.flags & messageContentFlags) === 0) throw intentMissing();
  return application;
}

function intentMissing(): GatewayError {
  return new GatewayError('intent_missing', 'Discord does not let this bot read messages.', {
    mend: 'At https://discord.com/developers/applications → your app → Bot → Privileged Gateway Intents, switch on “Message Content Intent”, save, and start again.',
  });
}

function errorOfClose(code: number): GatewayError {
  if (code === closeCode.disallowedIntents) return intentMissing();
  if (code === closeCode.authenticationFailed) {
    return new GatewayError('token_invalid', 'Discord refuses the bot token.', {
      mend: 'Copy the token anew from https://discord.com/developers/applications → your app → Bot → Reset Token.',
    });
  }
  const mend =
    code === closeCode.shardingRequired
      ? 'The bot is in too many servers for one connection: set discord.shards to auto.'
      : undefined;
  return new GatewayError('platform_refused', `Discord closed the connection for good (code ${code}).`, {
    ...(mend === undefined ? {} : { mend }),
  });
}

/** Wires the client's events; the promise rejects when Discord closes for good. */
function watch(
  client: Client,
  { Events, GatewayDispatchEvents: dispatches }: Library,
  events: ConnectionEvents,
  sink: PlatformSink,
  log: Log,
): Promise<never> {
  for (const type of [
    dispatches.MessageCreate,
    dispatches.MessageUpdate,
    dispatches.InteractionCreate,
  ] as const) {
    client.ws.on(type, (data: unknown) => {
      sink.alive();
      events.dispatch(type, data);
    });
  }
  const account = (): string => client.user?.tag ?? '';
  client.ws.on(dispatches.Ready, (_data: unknown, shardId) => events.sessionStarts(shardId));
  client.on(Events.ShardReady, (shardId) => {
    if (client.isReady()) sink.report({ state: 'connected', account: account() });
    events.sessionReady(shardId);
  });
  client.on(Events.ShardResume, () => sink.report({ state: 'connected', account: account() }));
  client.on(Events.ShardReconnecting, () =>
    sink.report({ state: 'retrying', reason: 'the connection broke' }),
  );
  client.on(Events.ShardError, (error) => log.info({ err: error }, 'the Discord connection failed'));
  client.on(Events.Error, (error) => log.warn({ err: error }, 'discord.js reports an error'));
  const lost = new Promise<never>((_, reject) => {
    client.on(Events.ShardDisconnect, ({ code }) => {
      const error = errorOfClose(code);
      if (client.isReady()) reportFatal(error, sink);
      reject(error);
    });
  });
  lost.catch(() => undefined);
  return lost;
}

const pulseMs = 5000;

/** Discord.js keeps the time of the last acknowledged heartbeat; a new one is a sign of life. */
function watchPulse(client: Client<true>, clock: Clock, events: ConnectionEvents): () => void {
  let lastPing = 0;
  let cancel = clock.after(pulseMs, look);
  function look(): void {
    const ping = Math.max(0, ...client.ws.shards.map(({ lastPingTimestamp }) => lastPingTimestamp));
    if (ping > lastPing) events.heartbeat();
    lastPing = Math.max(lastPing, ping);
    cancel = clock.after(pulseMs, look);
  }
  return () => cancel();
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => reject(new GatewayError('cancelled', 'Connecting to Discord was cancelled.'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
