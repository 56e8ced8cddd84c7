import { z } from 'zod';
import { modalView } from './blocks.ts';
import { json, type Method, type MethodContext, method, SlackFailure, ts } from './method.ts';
import { findMessage, type SlackMessage, threadState } from './world.ts';

const reactionArgs = { channel: z.string().min(1), timestamp: ts, name: z.string().regex(/^[a-z0-9_+'-]+$/) };

function reactedMessage(context: MethodContext, channel: string, timestamp: string): SlackMessage {
  const message = findMessage(context.world, channel, timestamp);
  if (message === undefined) throw new SlackFailure('message_not_found');
  return message;
}

export const interactionMethods: Readonly<Record<string, Method>> = {
  'reactions.add': method(['reactions:write'], reactionArgs, (args, context) => {
    const message = reactedMessage(context, args.channel, args.timestamp);
    const users = message.reactions.get(args.name) ?? new Set<string>();
    if (users.has(context.team.botUserId)) throw new SlackFailure('already_reacted');
    message.reactions.set(args.name, users.add(context.team.botUserId));
    return {};
  }),
  'reactions.remove': method(['reactions:write'], reactionArgs, (args, context) => {
    const message = reactedMessage(context, args.channel, args.timestamp);
    const users = message.reactions.get(args.name);
    if (users?.delete(context.team.botUserId) !== true) throw new SlackFailure('no_reaction');
    if (users.size === 0) message.reactions.delete(args.name);
    return {};
  }),
  'reactions.get': method(
    ['reactions:read'],
    { channel: z.string().min(1), timestamp: ts },
    (args, context) => {
      const message = reactedMessage(context, args.channel, args.timestamp);
      return {
        type: 'message',
        channel: args.channel,
        message: {
          ts: message.ts,
          reactions: [...message.reactions].map(([name, users]) => ({ name, users: [...users] })),
        },
      };
    },
  ),
  'views.open': method([], { trigger_id: z.string().min(1), view: json(modalView) }, (args, context) => {
    if (!context.useTrigger(args.trigger_id)) throw new SlackFailure('expired_trigger_id');
    const id = context.world.nextId('V');
    const [, userId = ''] = args.trigger_id.split('.');
    context.world.views.set(id, { id, teamId: context.team.id, userId, view: args.view, open: true });
    return { view: { ...args.view, id } };
  }),
  'assistant.threads.setStatus': method(
    ['assistant:write', 'chat:write'],
    {
      channel_id: z.string().min(1),
      thread_ts: ts,
      status: z.string().max(255),
      loading_messages: json(z.array(z.string().min(1)).max(10)).optional(),
    },
    (args, context) => {
      if (findMessage(context.world, args.channel_id, args.thread_ts) === undefined)
        throw new SlackFailure('invalid_thread_ts');
      const state = threadState(context.world, args.channel_id, args.thread_ts);
      state.status = args.status;
      state.statuses.push(args.status);
      return {};
    },
  ),
  'assistant.threads.setSuggestedPrompts': method(
    ['assistant:write', 'chat:write'],
    {
      channel_id: z.string().min(1),
      thread_ts: ts.optional(),
      title: z.string().min(1).optional(),
      prompts: json(
        z
          .array(z.strictObject({ title: z.string().min(1), message: z.string().min(1) }))
          .min(1)
          .max(4),
      ),
    },
    (args, context) => {
      threadState(context.world, args.channel_id, args.thread_ts ?? '').prompts = args.prompts;
      return {};
    },
  ),
};
