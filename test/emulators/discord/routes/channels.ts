import { z } from 'zod';
import { messageBody } from '../message-body.ts';
import {
  type Call,
  channelOf,
  param,
  Refusal,
  type Route,
  type RouteContext,
  read,
  refusals,
} from '../route.ts';
import { channelToWire, messageToWire } from '../wire.ts';
import {
  channelTypes,
  type DiscordChannel,
  findMessage,
  isThread,
  messageFlags,
  type World,
} from '../world.ts';
import { postMessage } from './messages.ts';

const threadBody = z.looseObject({
  name: z.string().min(1).max(100),
  auto_archive_duration: z
    .union([z.literal(60), z.literal(1440), z.literal(4320), z.literal(10080)])
    .nullish(),
  type: z.number().int().optional(),
  message: messageBody.optional(),
});
const channelBody = z.looseObject({
  name: z.string().min(1).max(100).optional(),
  topic: z.string().max(1024).nullish(),
  archived: z.boolean().optional(),
});

export function newChannel(world: World, fields: Partial<DiscordChannel> & { type: number }): DiscordChannel {
  const channel: DiscordChannel = {
    id: world.nextId(),
    name: '',
    topic: null,
    archived: false,
    hidden: false,
    threadMembers: new Set(),
    ...fields,
  };
  world.channels.set(channel.id, channel);
  return channel;
}

function startThread(
  id: string,
  name: string,
  parent: DiscordChannel,
  context: RouteContext,
): DiscordChannel {
  const { world } = context;
  if (context.denied.has('CREATE_PUBLIC_THREADS')) throw refusals.missingPermissions();
  const thread = newChannel(world, {
    id,
    type: channelTypes.publicThread,
    name,
    parentId: parent.id,
    ownerId: world.bot.id,
    threadMembers: new Set([world.bot.id]),
    ...(parent.guildId === undefined ? {} : { guildId: parent.guildId }),
  });
  context.dispatch(
    'THREAD_CREATE',
    { ...channelToWire(thread, world), newly_created: true },
    context.targetOf(parent),
  );
  return thread;
}

function threadFromMessage(call: Call, context: RouteContext) {
  const parent = channelOf(call, context);
  const message = findMessage(context.world, parent.id, param(call, 'message_id'));
  if (message === undefined) throw refusals.unknownMessage();
  if (parent.type !== channelTypes.text && parent.type !== channelTypes.announcement) {
    throw new Refusal(400, 50024, 'Cannot execute action on this channel type');
  }
  // A thread has the id of the message that it starts from.
  if (context.world.channels.has(message.id)) {
    throw new Refusal(400, 160004, 'A thread has already been created for this message');
  }
  const thread = startThread(message.id, read(threadBody, call.body).name, parent, context);
  message.flags |= messageFlags.hasThread;
  context.announce('MESSAGE_UPDATE', message);
  return channelToWire(thread, context.world);
}

function threadAlone(call: Call, context: RouteContext) {
  const parent = channelOf(call, context);
  const body = read(threadBody, call.body);
  const forum = parent.type === channelTypes.forum;
  if (forum !== (body.message !== undefined))
    throw refusals.invalidForm('message: only and always in a forum');
  const thread = startThread(context.world.nextId(), body.name, parent, context);
  if (body.message === undefined) return channelToWire(thread, context.world);
  const message = postMessage(thread, body.message, call, context);
  // The first message of a forum post has the id of its thread.
  message.id = thread.id;
  return {
    ...channelToWire(thread, context.world),
    message: messageToWire(message, context.world, context.view()),
  };
}

export const channelRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/channels/{channel_id}',
    handle: (call, context) => channelToWire(channelOf(call, context), context.world),
  },
  {
    method: 'PATCH',
    path: '/channels/{channel_id}',
    handle(call, context) {
      const channel = channelOf(call, context);
      const { name, topic, archived } = read(channelBody, call.body);
      Object.assign(channel, { name: name ?? channel.name, topic: topic ?? channel.topic });
      if (archived !== undefined) channel.archived = archived;
      return channelToWire(channel, context.world);
    },
  },
  {
    method: 'DELETE',
    path: '/channels/{channel_id}',
    handle(call, context) {
      const channel = channelOf(call, context);
      const wire = channelToWire(channel, context.world);
      context.world.channels.delete(channel.id);
      const type = isThread(channel) ? 'THREAD_DELETE' : 'CHANNEL_DELETE';
      context.dispatch(type, wire, context.targetOf(channel));
      return wire;
    },
  },
  {
    method: 'POST',
    path: '/channels/{channel_id}/typing',
    handle(call, context) {
      context.world.typing.push({ channelId: channelOf(call, context).id, at: Date.now() });
      return undefined;
    },
  },
  { method: 'POST', path: '/channels/{channel_id}/messages/{message_id}/threads', handle: threadFromMessage },
  { method: 'POST', path: '/channels/{channel_id}/threads', handle: threadAlone },
  {
    method: 'PUT',
    path: '/channels/{channel_id}/thread-members/@me',
    handle(call, context) {
      channelOf(call, context).threadMembers.add(context.world.bot.id);
      return undefined;
    },
  },
];
