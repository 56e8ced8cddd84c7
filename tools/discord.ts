import { z } from 'zod';
import { type Action, describeActions, idArg, runAction } from './discord/action.ts';
import { hasToken } from './discord/rest.ts';
import {
  channelView,
  idView,
  memberView,
  messageView,
  nothing,
  pinsView,
  roleView,
  serverInfoView,
  serverView,
  threadsView,
} from './discord/views.ts';
import { registry } from './registry.ts';

const names = [
  'list_servers', 'server_info', 'list_channels', 'list_threads', 'channel_info', 'fetch_messages', 'list_pins',
  'search_members', 'member_info', 'list_roles', 'send_message', 'reply', 'add_reaction', 'create_thread',
] as const; // biome-ignore format: a list

const args = z.object({
  action: z.enum(names),
  server_id: idArg.optional(),
  channel_id: idArg.optional().describe('A channel or a thread'),
  message_id: idArg.optional(),
  user_id: idArg.optional(),
  query: z.string().min(1).max(100).optional().describe('The beginning of a name'),
  text: z.string().min(1).max(2000).optional(),
  name: z.string().min(1).max(100).optional(),
  emoji: z.string().min(1).max(80).optional().describe('A Unicode emoji, or name:id of a custom one'),
  limit: z.number().int().min(1).max(100).default(20),
  before: idArg.optional().describe('Messages before this one'),
});
type Args = z.infer<typeof args>;

/** Text of a model pings nobody, and its links are not fetched for a preview. */
const suppressEmbeds = 1 << 2;
const message = (text: string | undefined) => ({
  content: text,
  flags: suppressEmbeds,
  allowed_mentions: { parse: [], replied_user: false },
});
const publicThread = 11;

const actions: Readonly<Record<(typeof names)[number], Action<Args>>> = {
  list_servers: {
    needs: [],
    about: 'the servers that the bot is in',
    call: () => ({ method: 'GET', path: '/users/@me/guilds' }),
    view: z.array(serverView),
  },
  server_info: {
    needs: ['server_id'],
    about: 'name, owner and size',
    call: ({ server_id: server }) => ({
      method: 'GET',
      path: `/guilds/${server}`,
      query: { with_counts: 'true' },
    }),
    view: serverInfoView,
  },
  list_channels: {
    needs: ['server_id'],
    about: 'its channels and categories',
    call: ({ server_id: server }) => ({ method: 'GET', path: `/guilds/${server}/channels` }),
    view: z.array(channelView),
  },
  list_threads: {
    needs: ['server_id'],
    about: 'its active threads and forum posts',
    call: ({ server_id: server }) => ({ method: 'GET', path: `/guilds/${server}/threads/active` }),
    view: threadsView,
  },
  channel_info: {
    needs: ['channel_id'],
    about: 'name, kind and topic',
    call: ({ channel_id: channel }) => ({ method: 'GET', path: `/channels/${channel}` }),
    view: channelView,
  },
  fetch_messages: {
    needs: ['channel_id'],
    about: 'the latest messages (limit, before), newest first',
    call: ({ channel_id: channel, limit, before }) => ({
      method: 'GET',
      path: `/channels/${channel}/messages`,
      query: { limit, ...(before === undefined ? {} : { before }) },
    }),
    view: z.array(messageView),
  },
  list_pins: {
    needs: ['channel_id'],
    about: 'the pinned messages',
    call: ({ channel_id: channel }) => ({ method: 'GET', path: `/channels/${channel}/messages/pins` }),
    view: pinsView,
  },
  search_members: {
    needs: ['server_id', 'query'],
    about: 'members whose name begins so (limit)',
    call: ({ server_id: server, query = '', limit }) => ({
      method: 'GET',
      path: `/guilds/${server}/members/search`,
      query: { query, limit },
    }),
    view: z.array(memberView),
  },
  member_info: {
    needs: ['server_id', 'user_id'],
    about: 'name and roles of a member',
    call: ({ server_id: server, user_id: user }) => ({
      method: 'GET',
      path: `/guilds/${server}/members/${user}`,
    }),
    view: memberView,
  },
  list_roles: {
    needs: ['server_id'],
    about: 'its roles',
    call: ({ server_id: server }) => ({ method: 'GET', path: `/guilds/${server}/roles` }),
    view: z.array(roleView),
  },
  send_message: {
    needs: ['channel_id', 'text'],
    about: 'writes a message; it pings nobody',
    call: ({ channel_id: channel, text }) => ({
      method: 'POST',
      path: `/channels/${channel}/messages`,
      body: message(text),
    }),
    view: idView,
  },
  reply: {
    needs: ['channel_id', 'message_id', 'text'],
    about: 'answers a message',
    call: ({ channel_id: channel, message_id: id, text }) => ({
      method: 'POST',
      path: `/channels/${channel}/messages`,
      body: { ...message(text), message_reference: { message_id: id, fail_if_not_exists: false } },
    }),
    view: idView,
  },
  add_reaction: {
    needs: ['channel_id', 'message_id', 'emoji'],
    about: 'reacts to a message',
    call: ({ channel_id: channel, message_id: id, emoji = '' }) => ({
      method: 'PUT',
      path: `/channels/${channel}/messages/${id}/reactions/${encodeURIComponent(emoji)}/@me`,
    }),
    view: nothing,
  },
  create_thread: {
    needs: ['channel_id', 'name'],
    about: 'opens a thread, on a message when message_id is given',
    call: ({ channel_id: channel, message_id: id, name }) => ({
      method: 'POST',
      path: id === undefined ? `/channels/${channel}/threads` : `/channels/${channel}/messages/${id}/threads`,
      body: { name, ...(id === undefined ? { type: publicThread } : {}) },
    }),
    view: idView,
  },
};

registry.register({
  name: 'discord',
  toolset: 'discord',
  emoji: '🎮',
  schema: {
    description: `Reads Discord and takes part in it as the bot. Actions:\n${describeActions(actions)}`,
    parameters: args,
  },
  handler: (given, { signal }) => runAction(actions[given.action], given, signal),
  checkFn: hasToken,
  requiresEnv: ['DISCORD_BOT_TOKEN'],
  preview: ({ action, channel_id: channel, server_id: server }) =>
    `${action} ${channel ?? server ?? ''}`.trim(),
});
