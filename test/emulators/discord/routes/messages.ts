import { z } from 'zod';
import { checkMessage, type MessageBody, messageBody, pings } from '../message-body.ts';
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
import { messageToWire, userToWire } from '../wire.ts';
import {
  channelTypes,
  type DiscordChannel,
  type DiscordMessage,
  findMessage,
  isThread,
  messageFlags,
  messagesOf,
  newMessage,
} from '../world.ts';

// discord.com/developers/docs/resources/message#create-message: "in the past few minutes".
const nonceLifeMs = 5 * 60_000;
const nonces = new WeakMap<DiscordMessage, string>();
const bulk = z.object({ messages: z.array(z.string()).min(2).max(100) });

function messageOf(call: Call, context: RouteContext): DiscordMessage {
  const message = findMessage(context.world, channelOf(call, context).id, param(call, 'message_id'));
  if (message === undefined) throw refusals.unknownMessage();
  return message;
}

/** A message of the bot's, checked, stored and announced. */
export function postMessage(
  channel: DiscordChannel,
  body: MessageBody,
  call: Call,
  context: RouteContext,
): DiscordMessage {
  const { world } = context;
  if (channel.type === channelTypes.forum)
    throw new Refusal(400, 50008, 'Cannot send messages in a non-text channel');
  if (channel.recipientId !== undefined && context.closedDms.has(channel.recipientId)) {
    throw new Refusal(403, 50007, 'Cannot send messages to this user');
  }
  if (context.denied.has('SEND_MESSAGES')) throw refusals.missingPermissions();
  mayEmbed(body, context);
  if (channel.archived && isThread(channel)) channel.archived = false;
  checkMessage(body, call.files.length, false);
  const reference = body.message_reference;
  const replied =
    reference === null || reference === undefined
      ? undefined
      : findMessage(world, channel.id, reference.message_id);
  if (reference && replied === undefined && reference.fail_if_not_exists !== false) {
    throw new Refusal(400, 50035, 'Invalid Form Body: message_reference: Unknown message');
  }
  const message = newMessage(world, {
    channelId: channel.id,
    authorId: world.bot.id,
    content: (body.content ?? '').trim(),
    embeds: body.embeds ?? [],
    components: body.components ?? [],
    attachments: [...call.files],
    flags: (body.flags ?? 0) & (messageFlags.silent | messageFlags.suppressEmbeds),
    ...(replied === undefined
      ? {}
      : { type: 19, reference: { messageId: replied.id, channelId: replied.channelId } }),
    pinged: pings(body, world, replied?.authorId),
  });
  world.messages.push(message);
  context.announce('MESSAGE_CREATE', message);
  return message;
}

function create(call: Call, context: RouteContext) {
  const channel = channelOf(call, context);
  const body = read(messageBody, call.body);
  const nonce = body.enforce_nonce === true ? String(body.nonce) : undefined;
  const earlier = context.world.messages.find(
    (message) =>
      nonce !== undefined &&
      message.channelId === channel.id &&
      nonces.get(message) === nonce &&
      Date.now() - Number(new Date(messageTime(message))) < nonceLifeMs,
  );
  const message = earlier ?? postMessage(channel, body, call, context);
  if (nonce !== undefined) nonces.set(message, nonce);
  return {
    ...messageToWire(message, context.world, context.view()),
    ...(nonce === undefined ? {} : { nonce }),
  };
}

const messageTime = (message: DiscordMessage): number =>
  Number((BigInt(message.id) >> 22n) + 1_420_070_400_000n);

function mayEmbed({ embeds }: MessageBody, { denied }: RouteContext): void {
  if (denied.has('EMBED_LINKS') && embeds?.length) throw refusals.missingPermissions();
}

/** Changes only the fields that the body has, as Discord does. */
export function changeMessage(message: DiscordMessage, body: MessageBody, context: RouteContext): void {
  checkMessage(body, message.attachments.length, true);
  mayEmbed(body, context);
  if (body.content !== undefined) {
    message.content = (body.content ?? '').trim();
    message.shown.push(message.content);
    message.editedAt = Date.now();
  }
  if (body.embeds !== undefined) message.embeds = body.embeds ?? [];
  if (typeof body.flags === 'number') {
    message.flags =
      (message.flags & ~messageFlags.suppressEmbeds) | (body.flags & messageFlags.suppressEmbeds);
  }
  if (body.components !== undefined) message.components = body.components ?? [];
  if (body.attachments !== undefined) {
    const kept = new Set((body.attachments ?? []).map(({ id }) => String(id)));
    message.attachments = message.attachments.filter(({ id }) => kept.has(id));
  }
  context.announce('MESSAGE_UPDATE', message);
}

function erase(message: DiscordMessage, channel: DiscordChannel, context: RouteContext): void {
  message.deleted = true;
  context.dispatch('MESSAGE_DELETE', { id: message.id, channel_id: channel.id }, context.targetOf(channel));
}

function list(call: Call, context: RouteContext) {
  const channel = channelOf(call, context);
  const { query } = call;
  const [before, after, around] = ['before', 'after', 'around'].map((name) => query.get(name));
  if ([before, after, around].filter((value) => value !== null).length > 1) {
    throw refusals.invalidForm('only one of before, after and around');
  }
  const limit = Number(query.get('limit') ?? 50);
  const all = messagesOf(context.world, channel.id).toSorted((a, b) =>
    BigInt(a.id) < BigInt(b.id) ? -1 : 1,
  );
  const wanted = all.filter(
    ({ id }) => (!before || BigInt(id) < BigInt(before)) && (!after || BigInt(id) > BigInt(after)),
  );
  const page = after ? wanted.slice(0, limit) : wanted.slice(-limit);
  return page.toReversed().map((message) => messageToWire(message, context.world, context.view()));
}

const emojiOf = (call: Call): string => decodeURIComponent(param(call, 'emoji_name'));

export const messageRoutes: readonly Route[] = [
  { method: 'GET', path: '/channels/{channel_id}/messages', handle: list },
  { method: 'POST', path: '/channels/{channel_id}/messages', handle: create },
  {
    method: 'GET',
    path: '/channels/{channel_id}/messages/{message_id}',
    handle: (call, context) => messageToWire(messageOf(call, context), context.world, context.view()),
  },
  {
    method: 'PATCH',
    path: '/channels/{channel_id}/messages/{message_id}',
    handle(call, context) {
      const message = messageOf(call, context);
      if (message.authorId !== context.world.bot.id) {
        throw new Refusal(403, 50005, 'Cannot edit a message authored by another user');
      }
      changeMessage(message, read(messageBody, call.body), context);
      return messageToWire(message, context.world, context.view());
    },
  },
  {
    method: 'DELETE',
    path: '/channels/{channel_id}/messages/{message_id}',
    handle(call, context) {
      const message = messageOf(call, context);
      if (message.authorId !== context.world.bot.id && context.denied.has('MANAGE_MESSAGES')) {
        throw refusals.missingPermissions();
      }
      erase(message, channelOf(call, context), context);
      return undefined;
    },
  },
  {
    method: 'POST',
    path: '/channels/{channel_id}/messages/bulk-delete',
    handle(call, context) {
      const channel = channelOf(call, context);
      for (const id of read(bulk, call.body).messages) {
        const message = findMessage(context.world, channel.id, id);
        if (message !== undefined) erase(message, channel, context);
      }
      return undefined;
    },
  },
  {
    method: 'PUT',
    path: '/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me',
    handle(call, context) {
      const message = messageOf(call, context);
      if (!/^\p{RGI_Emoji}$/v.test(emojiOf(call)) && !/^\w+:\d+$/.test(emojiOf(call))) {
        throw new Refusal(400, 10014, 'Unknown Emoji');
      }
      const users = message.reactions.get(emojiOf(call)) ?? new Set();
      message.reactions.set(emojiOf(call), users.add(context.world.bot.id));
      return undefined;
    },
  },
  {
    method: 'DELETE',
    path: '/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me',
    handle(call, context) {
      const { reactions } = messageOf(call, context);
      const users = reactions.get(emojiOf(call));
      users?.delete(context.world.bot.id);
      if (users?.size === 0) reactions.delete(emojiOf(call));
      return undefined;
    },
  },
  {
    method: 'GET',
    path: '/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}',
    handle(call, context) {
      const users = messageOf(call, context).reactions.get(emojiOf(call)) ?? new Set<string>();
      return [...users].flatMap((id) => context.world.users.get(id) ?? []).map(userToWire);
    },
  },
  {
    method: 'GET',
    path: '/channels/{channel_id}/messages/pins',
    handle(call, context) {
      const pinned = messagesOf(context.world, channelOf(call, context).id).filter(
        (message) => message.pinned,
      );
      return {
        items: pinned.map((message) => ({
          pinned_at: new Date().toISOString(),
          message: messageToWire(message, context.world, context.view()),
        })),
        has_more: false,
      };
    },
  },
  ...(['PUT', 'DELETE'] as const).map(
    (method): Route => ({
      method,
      path: '/channels/{channel_id}/messages/pins/{message_id}',
      handle(call, context) {
        messageOf(call, context).pinned = method === 'PUT';
        return undefined;
      },
    }),
  ),
];
