import type { Client } from 'discord.js';
import { rememberSecret } from '../../src/redact.ts';
import type { BotCommand, ChatAddress, Platform, PlatformSink } from '../platform.ts';
import { capabilitiesFor, limits } from './capabilities.ts';
import { createChannels } from './channels.ts';
import { loadLibrary, openClient, openRest } from './client.ts';
import { syncCommands } from './commands.ts';
import { type Connection, openConnection } from './connection.ts';
import { createDownloads } from './download.ts';
import { createHolding } from './holding.ts';
import { createMarks } from './marks.ts';
import { createNames } from './names.ts';
import { type DiscordDeps, type DiscordOptions, withDefaults } from './options.ts';
import { createPrivateAnswers } from './private-answers.ts';
import { createReactions } from './reactions.ts';
import { render } from './render.ts';
import { createSender } from './send.ts';
import { createSession, type Session } from './session.ts';
import { createThreads } from './threads.ts';

export type { DiscordDeps, DiscordOptions } from './options.ts';

/** The Discord adapter, on discord.js. */
export async function createDiscord(options: DiscordOptions, deps: DiscordDeps): Promise<Platform> {
  rememberSecret(options.token);
  const settings = withDefaults(options);
  const { token } = settings;
  const { clock, log } = deps;
  const { fileBytesIn, fileBytesOut } = limits;
  const library = await loadLibrary();
  const { rest, api } = openRest(library, settings);
  let client: Client | undefined;
  let open: { connection: Connection; session: Session } | undefined;

  const channels = createChannels(() => client, api);
  const names = createNames(() => client, channels);
  const threads = createThreads({ ...deps, api, channels, names });
  const holding = createHolding(channels, threads);
  const marks = createMarks(deps);
  const botId = () => client?.user?.id ?? '';
  const privateAnswers = createPrivateAnswers({ ...deps, api });
  const sender = createSender({ api, holding, threads, privateAnswers, botId, fileBytesOut });
  const { react } = createReactions({ ...deps, api, holding });
  const { download } = createDownloads({ api, apiRoot: settings.apiRoot, limitBytes: fileBytesIn });

  async function connect(
    sink: PlatformSink,
    commands: readonly BotCommand[],
    signal: AbortSignal,
  ): Promise<void> {
    // discord.js drops the token on a refusal, and a client that was closed stays closed.
    rest.setToken(token);
    client = openClient(library, settings);
    await Promise.all([threads.load(), privateAnswers.prune()]);
    const parts = { client, api, settings, channels, threads, names, marks, privateAnswers, sink };
    const session = createSession({ ...deps, ...parts });
    const connectionDeps = { library, client, api, token, clock, log };
    const connection = await openConnection(connectionDeps, session.events, sink, signal);
    open = { connection, session };
    await syncCommands(api, connection.applicationId, commands, log);
  }

  async function disconnect(): Promise<void> {
    const closing = open;
    open = undefined;
    await closing?.connection.close();
    await closing?.session.stop();
    rest.clearHashSweeper();
    rest.clearHandlerSweeper();
  }

  async function showActivity(
    chat: ChatAddress,
    activity: 'working' | 'idle',
    signal: AbortSignal,
  ): Promise<void> {
    // Discord ends the sign by itself, at the next message or after ten seconds.
    if (activity === 'idle') return;
    const path = `/channels/${await threads.open(chat)}/typing` as const;
    await api.run({ method: 'post', path, what: 'show typing', signal });
  }

  return {
    name: 'discord',
    capabilities: capabilitiesFor(settings),
    routes: [],
    connect,
    disconnect,
    render,
    deliver: sender.deliver,
    findDelivered: (chat, payload, _key, signal) => sender.findDelivered(chat, payload, signal),
    edit: sender.edit,
    remove: sender.remove,
    showActivity,
    draft: () => Promise.resolve(),
    react: (chat, messageId, emoji, signal) =>
      settings.reactions ? react(chat, messageId, emoji, signal) : Promise.resolve(),
    download,
  };
}
