import { z } from 'zod';
import { count, flag, type Method, type MethodContext, method, SlackFailure, ts } from './method.ts';
import { writableChannel } from './methods-chat.ts';
import { channelToWire, messageToWire, userToWire } from './wire.ts';
import { findMessage, type SlackMessage } from './world.ts';

const historyScopes = ['channels:history', 'groups:history', 'im:history', 'mpim:history'];
const readScopes = ['channels:read', 'groups:read', 'im:read', 'mpim:read'];

const pageArgs = {
  channel: z.string().min(1),
  oldest: z.union([ts, z.literal('0')]).optional(),
  latest: ts.optional(),
  inclusive: flag.optional(),
  limit: count.optional(),
  cursor: z.string().optional(),
  include_all_metadata: flag.optional(),
};

/** One page of `all`, cut by time and limit; the cursor is the offset. */
function page(
  all: readonly SlackMessage[],
  args: {
    oldest?: string | undefined;
    latest?: string | undefined;
    inclusive?: boolean | undefined;
    limit?: number | undefined;
    cursor?: string | undefined;
    include_all_metadata?: boolean | undefined;
  },
  context: MethodContext,
) {
  const from = Number(args.oldest ?? '0');
  const until = Number(args.latest ?? Number.MAX_SAFE_INTEGER);
  const inside = all.filter(({ ts: at }) =>
    args.inclusive === true
      ? Number(at) >= from && Number(at) <= until
      : Number(at) > from && Number(at) < until,
  );
  const start = Number(args.cursor ?? '0');
  const end = start + (args.limit ?? 100);
  return {
    messages: inside
      .slice(start, end)
      .map((message) =>
        messageToWire(message, context.world, context.root, args.include_all_metadata === true),
      ),
    has_more: end < inside.length,
    response_metadata: { next_cursor: end < inside.length ? String(end) : '' },
  };
}

export const conversationMethods: Readonly<Record<string, Method>> = {
  'auth.test': method([], {}, (_args, { team, root }) => ({
    url: `${root}/`,
    team: team.name,
    user: 'hermes',
    team_id: team.id,
    user_id: team.botUserId,
    bot_id: team.botId,
    is_enterprise_install: false,
  })),
  'users.info': method(
    ['users:read'],
    { user: z.string().min(1), include_locale: flag.optional() },
    (args, context) => {
      const user = context.world.users.get(args.user);
      if (user === undefined) throw new SlackFailure('user_not_found');
      return { user: userToWire(user, context.team.id) };
    },
  ),
  'conversations.info': method(
    readScopes,
    { channel: z.string().min(1), include_locale: flag.optional() },
    (args, context) => {
      const channel = context.world.channels.get(args.channel);
      if (channel === undefined || channel.teamId !== context.team.id)
        throw new SlackFailure('channel_not_found');
      return { channel: channelToWire(channel) };
    },
  ),
  'conversations.open': method(
    ['im:write', 'mpim:write'],
    { users: z.string().optional(), channel: z.string().optional(), return_im: flag.optional() },
    (args, context) => {
      const found = [...context.world.channels.values()].find(
        (channel) =>
          channel.teamId === context.team.id &&
          channel.type === 'im' &&
          args.users !== undefined &&
          channel.members.has(args.users),
      );
      if (found === undefined) throw new SlackFailure('user_not_found');
      return { channel: { id: found.id } };
    },
  ),
  'conversations.history': method(historyScopes, pageArgs, (args, context) => {
    const channel = writableChannel(context, args.channel);
    const all = context.world.messages
      .filter((message) => message.channel === channel.id && !message.deleted)
      .filter((message) => message.threadTs === undefined || message.threadTs === message.ts);
    return page(all.toReversed(), args, context);
  }),
  'conversations.replies': method(historyScopes, { ...pageArgs, ts }, (args, context) => {
    const channel = writableChannel(context, args.channel);
    const root = findMessage(context.world, channel.id, args.ts);
    if (root === undefined) throw new SlackFailure('thread_not_found');
    const all = context.world.messages.filter(
      (message) =>
        message.channel === channel.id &&
        !message.deleted &&
        (message === root || message.threadTs === (root.threadTs ?? root.ts)),
    );
    return page(all, args, context);
  }),
};
