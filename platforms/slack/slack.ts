import type { webApi } from '@slack/bolt';
import { GatewayError } from '../../src/errors.ts';
import { rememberSecret } from '../../src/redact.ts';
import type { ChatAddress, Platform } from '../platform.ts';
import { createActivity } from './activity.ts';
import { clientOptions } from './api.ts';
import { capabilitiesFor } from './capabilities.ts';
import { catchUp } from './catch-up.ts';
import { createCommands } from './commands.ts';
import { createConnection } from './connection.ts';
import { createDispatch } from './dispatch.ts';
import { createFiles } from './files.ts';
import { createHttpRoute } from './http.ts';
import { createInTurn } from './in-turn.ts';
import { createInbound } from './inbound.ts';
import { type SlackDeps, type SlackOptions, withDefaults } from './options.ts';
import { createOutbound } from './outbound.ts';
import { createPeople } from './people.ts';
import { createPresses } from './press.ts';
import { createPreviews } from './previews.ts';
import { createReactions } from './reactions.ts';
import { createRecipients } from './recipients.ts';
import { render, renderDraft } from './render.ts';
import { createResponder } from './responder.ts';
import { createSdkLog } from './sdk-log.ts';
import { createSeen } from './seen.ts';
import { createThreadHistory } from './thread-history.ts';
import { createThreads } from './threads.ts';
import { createWorkspaces } from './workspaces.ts';

/** Slack, over Socket Mode (with an app token) or signed HTTP requests (with a signing secret). */
export async function createSlack(
  options: SlackOptions,
  { log, clock, memory }: SlackDeps,
): Promise<Platform> {
  const settings = withDefaults(options);
  const { appToken, signingSecret, apiRoot } = settings;
  if (appToken === undefined && signingSecret === undefined) throw deaf();
  rememberSecret(appToken);
  rememberSecret(signingSecret);
  const bolt = await import('@slack/bolt');
  const sdkLog = createSdkLog(log, bolt.LogLevel.WARN);
  const sdkOptions = (): webApi.WebClientOptions => clientOptions(apiRoot, sdkLog);

  const workspaces = createWorkspaces({
    tokens: settings.botTokens,
    makeClient: (token) => new bolt.webApi.WebClient(token, sdkOptions()),
    log,
  });
  const apiOf = (chat: ChatAddress) => workspaces.of(chat.workspaceId).api;
  const inTurn = createInTurn();
  const people = createPeople({ memory, clock, log });
  const threads = createThreads({ memory, clock });
  const seen = createSeen({ memory, clock, log });
  const recipients = createRecipients();
  const localeOf = (chat: ChatAddress) => {
    const user = recipients.of(chat);
    return user === undefined ? undefined : people.peek(workspaces.of(chat.workspaceId), user)?.locale;
  };
  const responder = createResponder(apiRoot);

  const history = createThreadHistory(log);
  const inbound = createInbound({ settings, people, threads, history, seen, inTurn });
  const presses = createPresses({ workspaces, people, responder, log });
  const commands = createCommands({ settings, workspaces, people, memory, now: clock.now });

  const react = createReactions(clock);
  const files = createFiles({ workspaces, memory, clock, apiRoot });
  const previews = createPreviews({ memory, clock, log, inTurn, apiOf, recipientOf: recipients.of });
  const broadcast = settings.replyBroadcast;
  const outbound = createOutbound({
    workspaces,
    previews,
    files,
    commands,
    responder,
    threads,
    log,
    broadcast,
  });

  const makeReceiver = (token: string) => () =>
    new bolt.SocketModeReceiver({
      appToken: token,
      logger: sdkLog,
      clientPingTimeout: settings.pingTimeoutMs,
      serverPingTimeout: settings.pingTimeoutMs * 2,
      autoReconnectEnabled: false,
      installerOptions: { clientOptions: sdkOptions() },
    });
  const connection = createConnection({
    workspaces,
    makeReceiver: appToken === undefined ? undefined : makeReceiver(appToken),
    makeDispatch: (sink) =>
      createDispatch(bolt, sdkLog, sink, { workspaces, inbound, presses, commands, people, log }),
    catchUp: (sink, signal) => catchUp({ workspaces, inbound, seen, threads, clock, log }, sink, signal),
    clock,
    log,
  });
  const { dispatch, alive } = connection;

  return {
    name: 'slack',
    capabilities: capabilitiesFor(settings),
    routes: signingSecret === undefined ? [] : [createHttpRoute({ signingSecret, clock, dispatch, alive })],
    async connect(sink, names, signal) {
      commands.know(names);
      await Promise.all([threads.prune(), commands.prune()]);
      await connection.open(recipients.watching(sink), signal);
      await previews.dropLeftovers();
    },
    async disconnect() {
      previews.cancelTimers();
      await connection.close();
      await seen.flush();
    },
    render,
    deliver: outbound.deliver,
    findDelivered: outbound.find,
    edit: outbound.edit,
    remove: outbound.remove,
    showActivity: createActivity({ apiOf, previews, localeOf, log }),
    draft: (chat, draftId, markdown, signal) => previews.show(chat, draftId, renderDraft(markdown), signal),
    react: (chat, messageId, emoji, signal) =>
      react(workspaces.of(chat.workspaceId), chat.chatId, messageId, emoji, signal),
    download: files.fetch,
  };
}

function deaf(): GatewayError {
  return new GatewayError(
    'config_invalid',
    'Slack has no way to hear: neither app token nor signing secret is set',
    {
      mend: 'Set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP).',
    },
  );
}
