import type { Client } from 'discord.js';
import type { PlatformSink } from '../platform.ts';
import type { DiscordApi } from './api.ts';
import { catchUp } from './catch-up.ts';
import type { Channels } from './channels.ts';
import type { ConnectionEvents } from './connection.ts';
import { createEvents } from './events.ts';
import { isOpenChannel } from './gate.ts';
import { createInbound } from './inbound.ts';
import { createAnswerer } from './interaction-answer.ts';
import { createInteractions } from './interactions.ts';
import { createLanes } from './lanes.ts';
import type { MarkSnapshot, Marks } from './marks.ts';
import { createMembers } from './members.ts';
import type { DiscordDeps, DiscordSettings } from './options.ts';
import type { Names } from './plain-text.ts';
import type { PrivateAnswers } from './private-answers.ts';
import type { Threads } from './threads.ts';

export interface SessionDeps extends DiscordDeps {
  client: Client;
  api: DiscordApi;
  settings: DiscordSettings;
  channels: Channels;
  threads: Threads;
  names(guildId: string | undefined): Names;
  marks: Marks;
  privateAnswers: PrivateAnswers;
  sink: PlatformSink;
}

export interface Session {
  events: ConnectionEvents;
  /** Saves how far was read. What still waits in a lane is asked for at the next start. */
  stop(): Promise<void>;
}

/** The inbound half of one connection: from the wire to the sink. */
export function createSession(deps: SessionDeps): Session {
  const { client, api, settings, channels, threads, names, marks, privateAnswers, sink, clock, log } = deps;
  const stopped = new AbortController();
  const lanes = createLanes(clock, log, stopped.signal);
  const inbound = createInbound({ settings, channels, threads, names, member: createMembers(api) });
  const answerer = createAnswerer(api, clock, log);
  const interactions = createInteractions({ settings, channels, threads, answerer, privateAnswers, log });
  const dispatches = createEvents({ inbound, interactions, lanes, marks, sink, log });
  const snapshots = new Map<number, Promise<MarkSnapshot>>();

  function isOpen(channelId: string): boolean {
    const channel = channels.known(channelId);
    return channel !== undefined && isOpenChannel(channel, settings);
  }

  async function readMissed(shardId: number): Promise<void> {
    const snapshot = await snapshots.get(shardId);
    if (snapshot === undefined || stopped.signal.aborted) return;
    catchUp({ client, api, lanes, clock, log, isOpen, handle: dispatches.handleMessage }, shardId, snapshot);
    if (lanes.idle()) marks.noteAlive();
  }

  const byType = {
    MESSAGE_CREATE: dispatches.onMessageCreate,
    MESSAGE_UPDATE: dispatches.onMessageUpdate,
    INTERACTION_CREATE: dispatches.onInteraction,
  } as const;

  return {
    events: {
      dispatch: (type, data) => byType[type](data),
      sessionStarts(shardId) {
        const snapshot = marks.flush().then(() => marks.read());
        snapshot.catch(() => undefined);
        snapshots.set(shardId, snapshot);
      },
      sessionReady(shardId) {
        readMissed(shardId).catch((error: unknown) => {
          log.error({ err: error }, 'what was missed on Discord could not be asked for');
        });
      },
      heartbeat() {
        sink.alive();
        if (lanes.idle()) marks.noteAlive();
      },
    },
    async stop() {
      stopped.abort();
      if (lanes.idle()) marks.noteAlive();
      await marks.flush();
    },
  };
}
