import type { EnvelopeKind, Receipt } from './delivery.ts';
import { commandPayload, pressPayload, submissionPayload } from './user-interactions.ts';
import { messageToWire } from './wire.ts';
import {
  addMessage,
  type SlackChannel,
  type SlackFile,
  type SlackMessage,
  type SlackTeam,
  type SlackUser,
  type World,
} from './world.ts';

export interface SayOptions {
  /** A DM with the bot when absent. */
  channel?: SlackChannel;
  threadTs?: string;
  /** Whether only `app_mention` arrives, as for an app without the history scopes. */
  mentionOnly?: boolean;
  files?: SlackFile[];
}

export interface Sent {
  message: SlackMessage;
  /** Of the `message` event, then of `app_mention` when there is one. */
  receipts: Receipt[];
}

/** A person at their Slack client. */
export interface SlackUserHandle {
  id: string;
  name: string;
  /** The person's DM with the bot, made on first use. */
  dm(team?: SlackTeam): SlackChannel;
  says(text: string, options?: SayOptions): Sent;
  edits(message: SlackMessage, text: string): Receipt;
  uploads(
    name: string,
    bytes: Buffer,
    mimetype: string,
    options?: SayOptions & { text?: string; subtype?: string },
  ): Sent;
  /** Several files in one message. */
  uploadsAll(
    files: readonly { name: string; bytes: Buffer; mimetype: string }[],
    options?: SayOptions & { text?: string },
  ): Sent;
  /** Presses the button with this label or action id; confirms when asked to. */
  presses(button: string, message: SlackMessage): Receipt;
  submits(text: string): Receipt;
  types(command: string, text: string, channel?: SlackChannel): Receipt;
  /** Opens a new assistant thread with the bot and returns its `thread_ts`. */
  opensAssistant(): string;
  joinsHuddle(channel: SlackChannel): Receipt;
  /** Messages of the bot that this person sees, oldest first. */
  botShows(channel?: SlackChannel): SlackMessage[];
  privately(): string[];
}

export interface UserDeps {
  world: World;
  root(): string;
  emit(team: SlackTeam, event: Record<string, unknown>): Receipt;
  send(kind: EnvelopeKind, payload: Record<string, unknown>): Receipt;
  trigger(userId: string): string;
  responseUrl(channel: string, user: string, messageTs?: string): string;
  firstTeam: SlackTeam;
}

export function createUser(user: SlackUser, deps: UserDeps): SlackUserHandle {
  const { world } = deps;
  const teamOf = (channel: SlackChannel): SlackTeam => world.teams.get(channel.teamId) ?? deps.firstTeam;
  const who = (team: SlackTeam) => ({ id: user.id, username: user.name, name: user.name, team_id: team.id });

  function dm(team: SlackTeam = deps.firstTeam): SlackChannel {
    const known = [...world.channels.values()].find(
      (channel) => channel.type === 'im' && channel.teamId === team.id && channel.members.has(user.id),
    );
    if (known !== undefined) return known;
    const channel: SlackChannel = {
      id: world.nextId('D'),
      teamId: team.id,
      name: 'directmessage',
      type: 'im',
      members: new Set([user.id, team.botUserId]),
      archived: false,
    };
    world.channels.set(channel.id, channel);
    return channel;
  }

  function says(text: string, options: SayOptions = {}): Sent {
    const channel = options.channel ?? dm();
    const team = teamOf(channel);
    const message = addMessage(world, {
      channel: channel.id,
      user: user.id,
      ...(user.isBot ? { botId: `B${user.id}` } : {}),
      ...(options.files === undefined ? {} : { subtype: 'file_share', files: options.files }),
      ...(options.threadTs === undefined ? {} : { threadTs: options.threadTs }),
      text,
    });
    const wire = {
      ...messageToWire(message, world, deps.root(), false),
      channel: channel.id,
      event_ts: message.ts,
    };
    const receipts: Receipt[] = [];
    if (options.mentionOnly !== true) receipts.push(deps.emit(team, { ...wire, channel_type: channel.type }));
    if (channel.type !== 'im' && text.includes(`<@${team.botUserId}>`)) {
      receipts.push(deps.emit(team, { ...wire, type: 'app_mention' }));
    }
    return { message, receipts };
  }

  function keep(
    content: Pick<SlackFile, 'name' | 'bytes' | 'mimetype' | 'subtype'>,
    { channel }: SayOptions,
  ): SlackFile {
    const file: SlackFile = {
      id: world.nextId('F'),
      teamId: teamOf(channel ?? dm()).id,
      title: content.name,
      user: user.id,
      uploaded: true,
      external: false,
      shares: [],
      ...content,
    };
    world.files.set(file.id, file);
    return file;
  }

  return {
    id: user.id,
    name: user.realName,
    dm,
    says,
    edits(message, text) {
      const previous = messageToWire(message, world, deps.root(), false);
      message.text = text;
      message.editedTs = world.nextTs();
      const channel = channelOf(message);
      return deps.emit(teamOf(channel), {
        type: 'message',
        subtype: 'message_changed',
        channel: channel.id,
        channel_type: channel.type,
        message: messageToWire(message, world, deps.root(), false),
        previous_message: previous,
        ts: message.editedTs,
        event_ts: message.editedTs,
      });
    },
    uploads(name, bytes, mimetype, { subtype, ...options } = {}) {
      const file = keep({ name, bytes, mimetype, ...(subtype === undefined ? {} : { subtype }) }, options);
      return says(options.text ?? '', { ...options, files: [file] });
    },
    uploadsAll: (files, options = {}) =>
      says(options.text ?? '', { ...options, files: files.map((file) => keep(file, options)) }),
    presses(button, message) {
      const channel = channelOf(message);
      return deps.send('interactive', {
        ...pressPayload(button, message, who(teamOf(channel)), channel, world.nextTs()),
        message: messageToWire(message, world, deps.root(), false),
        trigger_id: deps.trigger(user.id),
        response_url: deps.responseUrl(channel.id, user.id, message.ts),
      });
    },
    submits(text) {
      const form = [...world.views.values()].find((view) => view.open && view.userId === user.id);
      if (form === undefined) throw new Error('no form is open');
      form.open = false;
      const team = world.teams.get(form.teamId) ?? deps.firstTeam;
      return deps.send('interactive', submissionPayload(form, text, who(team)));
    },
    types(command, text, channel = dm()) {
      return deps.send('slash_commands', {
        ...commandPayload(command, text, who(teamOf(channel)), channel),
        response_url: deps.responseUrl(channel.id, user.id),
        trigger_id: deps.trigger(user.id),
      });
    },
    opensAssistant() {
      const channel = dm();
      const team = teamOf(channel);
      const root = addMessage(world, {
        channel: channel.id,
        user: team.botUserId,
        botId: team.botId,
        subtype: 'assistant_app_thread',
        text: 'New Assistant Thread',
      });
      deps.emit(team, {
        type: 'assistant_thread_started',
        assistant_thread: { user_id: user.id, context: {}, channel_id: channel.id, thread_ts: root.ts },
        event_ts: root.ts,
      });
      return root.ts;
    },
    joinsHuddle: (channel) =>
      deps.emit(teamOf(channel), {
        type: 'message',
        subtype: 'huddle_thread',
        channel: channel.id,
        channel_type: channel.type,
        ts: world.nextTs(),
        user: user.id,
        text: '',
      }),
    botShows(channel = dm()) {
      const team = teamOf(channel);
      return world.messages.filter(
        (message) =>
          message.channel === channel.id &&
          message.botId === team.botId &&
          !message.deleted &&
          message.subtype !== 'assistant_app_thread',
      );
    },
    privately: () => world.ephemerals.filter((shown) => shown.user === user.id).map((shown) => shown.text),
  };

  function channelOf(message: SlackMessage): SlackChannel {
    const channel = world.channels.get(message.channel);
    if (channel === undefined) throw new Error(`no channel ${message.channel}`);
    return channel;
  }
}
