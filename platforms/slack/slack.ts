import type { webApi } from '@slack/bolt';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import { rememberSecret } from '../../src/redact.ts';
import type {
  BotCommand,
  ChatAddress,
  Platform,
  PlatformCapabilities,
  PlatformRoute,
  PlatformSink,
} from '../platform.ts';
import { createActivity } from './activity.ts';
import { clientOptions } from './api.ts';
import { catchUp } from './catch-up.ts';
import { createCommands } from './commands.ts';
import { createDispatch, type Dispatch } from './dispatch.ts';
import { createFiles, mostFileBytes } from './files.ts';
import { createHttpRoute } from './http.ts';
import { createInTurn } from './in-turn.ts';
import { createInbound } from './inbound.ts';
import { type SlackDeps, type SlackOptions, withDefaults } from './options.ts';
import { createOutbound } from './outbound.ts';
import { createPeople } from './people.ts';
import { createPresses } from './press.ts';
import { createPreviews } from './previews.ts';
import { react } from './reactions.ts';
import { createRecipients } from './recipients.ts';
import { render, renderDraft, textUnits } from './render.ts';
import { createResponder } from './responder.ts';
import { createSdkLog } from './sdk-log.ts';
import { createSeen } from './seen.ts';
import { createSocket, type Socket } from './socket.ts';
import { createThreadHistory } from './thread-history.ts';
import { createThreads } from './threads.ts';
import { createWorkspaces } from './workspaces.ts';

/** Without a socket there is no heartbeat; asking who we are is one, and notices a revoked token. */
const httpHeartbeatMs = 60_000;

const capabilities: PlatformCapabilities = {
  attended: true,
  buttons: true,
  edits: true,
  threads: true,
  reactions: true,
  files: true,
  stream: 'draft',
  draftKinds: ['dm', 'group', 'channel', 'thread'],
  idempotentSend: false,
  replaysMissed: false,
  limits: {
    textUnits,
    captionUnits: textUnits,
    buttonIdBytes: 64,
    fileBytesIn: mostFileBytes,
    fileBytesOut: mostFileBytes,
  },
  // About one message a second in a channel; edits are Tier 3, some fifty a minute. docs.slack.dev/apis/web-api/rate-limits
  pace: {
    perChatPerSecond: 1,
    perChatBurst: 3,
    groupPerMinute: 60,
    perBotPerSecond: 20,
    minEditIntervalMs: 1200,
  },
};

/** Slack, over Socket Mode (with an app token) or signed HTTP requests (with a signing secret). */
export async function createSlack(options: SlackOptions, deps: SlackDeps): Promise<Platform> {
  const settings = withDefaults(options);
  const { log, clock, memory } = deps;
  const { appToken, signingSecret, apiRoot } = settings;
  if (appToken === undefined && signingSecret === undefined) {
    throw new GatewayError(
      'config_invalid',
      'Slack needs a way to hear: neither an app token nor a signing secret is set',
      {
        mend: 'Set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP).',
      },
    );
  }
  rememberSecret(appToken);
  rememberSecret(signingSecret);
  const bolt = await import('@slack/bolt');
  const sdkLog = createSdkLog(log, bolt.LogLevel.WARN);
  const makeOptions = (): webApi.WebClientOptions => clientOptions(apiRoot, sdkLog);

  const workspaces = createWorkspaces({
    tokens: settings.botTokens,
    makeClient: (token) => new bolt.webApi.WebClient(token, makeOptions()),
    log,
  });
  const apiOf = (chat: ChatAddress) => workspaces.of(chat.workspaceId).api;
  const inTurn = createInTurn();
  const people = createPeople({ clock, log });
  const threads = createThreads({ memory, clock });
  const seen = createSeen(memory);
  const history = createThreadHistory(log);
  const recipients = createRecipients();
  const responder = createResponder(apiRoot);
  const commands = createCommands({ workspaces, people, memory, now: clock.now });
  const inbound = createInbound({ settings, people, threads, history, seen, inTurn });
  const presses = createPresses({ workspaces, people, responder, log });
  const files = createFiles({ workspaces, memory, clock, apiRoot });
  const previews = createPreviews({ memory, clock, log, inTurn, apiOf, recipientOf: recipients.of });
  const outbound = createOutbound({
    workspaces,
    previews,
    files,
    commands,
    responder,
    threads,
    log,
    broadcast: settings.replyBroadcast,
  });

  let dispatch: Dispatch | undefined;
  let socket: Socket | undefined;
  let sinkInUse: PlatformSink | undefined;
  let cancelHeartbeat: (() => void) | undefined;
  let life = new AbortController();

  const routes: PlatformRoute[] = [];
  if (signingSecret !== undefined) {
    routes.push(
      createHttpRoute({ signingSecret, clock, dispatch: () => dispatch, alive: () => sinkInUse?.alive() }),
    );
  }

  const account = () =>
    workspaces
      .all()
      .map(({ teamName }) => teamName)
      .join(', ');

  function catchUpSoon(sink: PlatformSink): void {
    catchUp({ workspaces, inbound, seen, threads, clock, log }, sink, life.signal).catch((error: unknown) =>
      log.warn({ reason: errorMessage(error) }, 'Slack: could not catch up'),
    );
  }

  async function connect(
    outer: PlatformSink,
    names: readonly BotCommand[],
    signal: AbortSignal,
  ): Promise<void> {
    const sink = recipients.watching(outer);
    life = new AbortController();
    sinkInUse = sink;
    sink.report({ state: 'connecting' });
    commands.know(names);
    try {
      await workspaces.load(signal);
      await Promise.all([threads.prune(), commands.prune()]);
      dispatch = createDispatch(bolt, sdkLog, sink, { workspaces, inbound, presses, commands, log });
      if (appToken === undefined) heartbeat(sink);
      else socket = await openSocket(appToken, dispatch, sink, signal);
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'token_invalid') reportFatal(sink, error);
      await stop();
      throw error;
    }
    sink.report({ state: 'connected', account: account() });
    sink.alive();
    catchUpSoon(sink);
  }

  async function openSocket(
    token: string,
    target: Dispatch,
    sink: PlatformSink,
    signal: AbortSignal,
  ): Promise<Socket> {
    const opened = createSocket({
      makeReceiver: () =>
        new bolt.SocketModeReceiver({
          appToken: token,
          logger: sdkLog,
          clientPingTimeout: settings.pingTimeoutMs,
          serverPingTimeout: settings.pingTimeoutMs * 2,
          autoReconnectEnabled: false,
          installerOptions: { clientOptions: makeOptions() },
        }),
      dispatch: target,
      clock,
      log,
      onResumed() {
        sink.report({ state: 'connected', account: account() });
        catchUpSoon(sink);
      },
      onTrouble(error) {
        if (error.code === 'token_invalid') reportFatal(sink, error);
        else sink.report({ state: 'retrying', reason: error.message });
      },
      alive: () => sink.alive(),
    });
    socket = opened;
    await opened.open(signal);
    return opened;
  }

  function heartbeat(sink: PlatformSink): void {
    cancelHeartbeat = clock.after(httpHeartbeatMs, () => {
      workspaces
        .load(life.signal)
        .then(() => sink.alive())
        .catch((error: unknown) => {
          if (error instanceof GatewayError && error.code === 'token_invalid') reportFatal(sink, error);
        })
        .finally(() => {
          if (!life.signal.aborted) heartbeat(sink);
        });
    });
  }

  async function stop(): Promise<void> {
    life.abort();
    cancelHeartbeat?.();
    previews.cancelTimers();
    dispatch = undefined;
    const open = socket;
    socket = undefined;
    await open?.close();
  }

  async function disconnect(): Promise<void> {
    await stop();
    sinkInUse?.report({ state: 'disconnected' });
    sinkInUse = undefined;
  }

  return {
    name: 'slack',
    capabilities,
    routes,
    connect,
    disconnect,
    render,
    deliver: outbound.deliver,
    findDelivered: outbound.find,
    edit: outbound.edit,
    remove: outbound.remove,
    showActivity: createActivity({ apiOf, previews, log }),
    draft: (chat, draftId, markdown, signal) => previews.show(chat, draftId, renderDraft(markdown), signal),
    react: (chat, messageId, emoji, signal) =>
      react(workspaces.of(chat.workspaceId), chat.chatId, messageId, emoji, signal),
    download: files.fetch,
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
