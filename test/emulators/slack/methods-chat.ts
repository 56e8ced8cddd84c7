import { z } from 'zod';
import { messageBlocks } from './blocks.ts';
import { flag, json, type Method, type MethodContext, method, SlackFailure, ts } from './method.ts';
import { messageToWire } from './wire.ts';
import { addMessage, findMessage, type SlackChannel, type SlackMessage, threadState } from './world.ts';

const metadata = json(
  z.strictObject({ event_type: z.string().min(1), event_payload: z.record(z.string(), z.unknown()) }),
).optional();
const blocks = json(messageBlocks).optional();
/** The hard limit of a message's text. docs.slack.dev/reference/methods/chat.postMessage */
const text = z.string().max(40_000).optional();
const markdownText = z.string().min(1).max(12_000).optional();

/** The channel, if the bot may write to it. */
export function writableChannel(context: MethodContext, id: string): SlackChannel {
  const channel = context.world.channels.get(id);
  if (channel === undefined || channel.teamId !== context.team.id)
    throw new SlackFailure('channel_not_found');
  if (channel.archived) throw new SlackFailure('is_archived');
  if (!channel.members.has(context.team.botUserId)) throw new SlackFailure('not_in_channel');
  return channel;
}

function post(
  context: MethodContext,
  channel: SlackChannel,
  content: {
    text: string;
    blocks: Record<string, unknown>[];
    threadTs: string | undefined;
    metadata: unknown;
  },
): SlackMessage {
  const { threadTs } = content;
  if (threadTs !== undefined && findMessage(context.world, channel.id, threadTs) === undefined) {
    throw new SlackFailure('thread_not_found');
  }
  const message = addMessage(context.world, {
    channel: channel.id,
    user: context.team.botUserId,
    botId: context.team.botId,
    text: content.text,
    blocks: content.blocks,
    ...(threadTs === undefined ? {} : { threadTs }),
    ...(content.metadata === undefined ? {} : { metadata: content.metadata }),
  });
  if (threadTs !== undefined) threadState(context.world, channel.id, threadTs).status = '';
  return message;
}

/** The app hears of its own posts too, as it does at Slack. */
function emitPost(context: MethodContext, channel: SlackChannel, message: SlackMessage): void {
  context.emit({
    ...messageToWire(message, context.world, context.root, false),
    channel: channel.id,
    channel_type: channel.type,
    event_ts: message.ts,
  });
}

function emitChange(context: MethodContext, channel: SlackChannel, message: SlackMessage): void {
  context.emit({
    type: 'message',
    subtype: 'message_changed',
    channel: channel.id,
    channel_type: channel.type,
    message: messageToWire(message, context.world, context.root, false),
    ts: context.world.nextTs(),
    event_ts: context.world.nextTs(),
  });
}

function ownMessage(
  context: MethodContext,
  channel: SlackChannel,
  id: string,
  missing: string,
): SlackMessage {
  const message = findMessage(context.world, channel.id, id);
  if (message === undefined) throw new SlackFailure(missing);
  if (message.botId !== context.team.botId)
    throw new SlackFailure(missing.startsWith('cant') ? missing : 'cant_update_message');
  return message;
}

export const chatMethods: Readonly<Record<string, Method>> = {
  'chat.postMessage': method(
    ['chat:write'],
    {
      channel: z.string().min(1),
      text,
      blocks,
      thread_ts: ts.optional(),
      reply_broadcast: flag.optional(),
      metadata,
      mrkdwn: flag.optional(),
      parse: z.enum(['none', 'full']).optional(),
      link_names: flag.optional(),
      unfurl_links: flag.optional(),
      unfurl_media: flag.optional(),
    },
    (args, context) => {
      const channel = writableChannel(context, args.channel);
      if (!args.text && (args.blocks ?? []).length === 0) throw new SlackFailure('no_text');
      const message = post(context, channel, {
        text: args.text ?? '',
        blocks: args.blocks ?? [],
        threadTs: args.thread_ts,
        metadata: args.metadata,
      });
      emitPost(context, channel, message);
      return {
        channel: channel.id,
        ts: message.ts,
        message: messageToWire(message, context.world, context.root),
      };
    },
  ),
  'chat.update': method(
    ['chat:write'],
    {
      channel: z.string().min(1),
      ts,
      text: z.string().optional(),
      blocks,
      metadata,
      parse: z.enum(['none', 'full']).optional(),
      link_names: flag.optional(),
    },
    (args, context) => {
      const channel = writableChannel(context, args.channel);
      const message = ownMessage(context, channel, args.ts, 'message_not_found');
      if (message.streaming) throw new SlackFailure('streaming_state_conflict');
      if ((args.text ?? '').length > 4000) throw new SlackFailure('msg_too_long');
      message.text = args.text ?? '';
      message.blocks = args.blocks ?? [];
      if (args.metadata !== undefined) message.metadata = args.metadata;
      delete message.streamText;
      message.editedTs = context.world.nextTs();
      message.shown.push(message.text);
      emitChange(context, channel, message);
      return { channel: channel.id, ts: message.ts, text: message.text };
    },
  ),
  'chat.delete': method(['chat:write'], { channel: z.string().min(1), ts }, (args, context) => {
    const channel = writableChannel(context, args.channel);
    ownMessage(context, channel, args.ts, 'message_not_found').deleted = true;
    return { channel: channel.id, ts: args.ts };
  }),
  'chat.postEphemeral': method(
    ['chat:write'],
    { channel: z.string().min(1), user: z.string().min(1), text, blocks, thread_ts: ts.optional() },
    (args, context) => {
      const channel = writableChannel(context, args.channel);
      if (!channel.members.has(args.user)) throw new SlackFailure('user_not_in_channel');
      context.world.ephemerals.push({
        channel: channel.id,
        user: args.user,
        text: args.text ?? '',
        blocks: args.blocks ?? [],
        ...(args.thread_ts === undefined ? {} : { threadTs: args.thread_ts }),
      });
      return { message_ts: context.world.nextTs() };
    },
  ),
  'chat.startStream': method(
    ['chat:write'],
    {
      channel: z.string().min(1),
      markdown_text: markdownText,
      thread_ts: ts,
      recipient_user_id: z.string().optional(),
      recipient_team_id: z.string().optional(),
    },
    (args, context) => {
      const channel = writableChannel(context, args.channel);
      if (channel.type !== 'im') {
        if (args.recipient_user_id === undefined) throw new SlackFailure('missing_recipient_user_id');
        if (args.recipient_team_id === undefined) throw new SlackFailure('missing_recipient_team_id');
      }
      const streamed = args.markdown_text ?? '';
      const message = post(context, channel, {
        text: streamed,
        blocks: [],
        threadTs: args.thread_ts,
        metadata: undefined,
      });
      message.streaming = true;
      message.streamText = streamed;
      emitPost(context, channel, message);
      return { channel: channel.id, ts: message.ts };
    },
  ),
  'chat.appendStream': method(
    ['chat:write'],
    { channel: z.string().min(1), ts, markdown_text: markdownText },
    (args, context) => {
      const message = ownMessage(
        context,
        writableChannel(context, args.channel),
        args.ts,
        'message_not_found',
      );
      appendToStream(message, args.markdown_text ?? '');
      return { channel: message.channel, ts: message.ts };
    },
  ),
  'chat.stopStream': method(
    ['chat:write'],
    { channel: z.string().min(1), ts, markdown_text: markdownText, metadata, blocks },
    (args, context) => {
      const channel = writableChannel(context, args.channel);
      const message = ownMessage(context, channel, args.ts, 'message_not_found');
      appendToStream(message, args.markdown_text ?? '');
      message.streaming = false;
      if (args.metadata !== undefined) message.metadata = args.metadata;
      emitChange(context, channel, message);
      return {
        channel: channel.id,
        ts: message.ts,
        message: messageToWire(message, context.world, context.root),
      };
    },
  ),
};

function appendToStream(message: SlackMessage, addition: string): void {
  if (!message.streaming) throw new SlackFailure('message_not_in_streaming_state');
  message.streamText = (message.streamText ?? '') + addition;
  if (message.streamText.length > 12_000) throw new SlackFailure('msg_too_long');
  message.text = message.streamText;
  message.shown.push(message.text);
}
