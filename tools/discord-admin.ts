import { z } from 'zod';
import { type Action, describeActions, idArg, runAction } from './discord/action.ts';
import { hasToken } from './discord/rest.ts';
import { channelView, memberView, nothing } from './discord/views.ts';
import { registry } from './registry.ts';

const names = [
  'pin_message', 'unpin_message', 'delete_message', 'add_role', 'remove_role', 'timeout_member', 'kick_member',
  'ban_member', 'unban_member', 'create_channel', 'set_topic', 'archive_thread',
] as const; // biome-ignore format: a list
type Name = (typeof names)[number];

const longestTimeoutMinutes = 28 * 24 * 60;

const args = z.object({
  action: z.enum(names),
  server_id: idArg.optional(),
  channel_id: idArg.optional().describe('A channel or a thread'),
  message_id: idArg.optional(),
  user_id: idArg.optional(),
  role_id: idArg.optional(),
  name: z.string().min(1).max(100).optional(),
  topic: z.string().max(1024).optional(),
  minutes: z
    .number()
    .int()
    .min(0)
    .max(longestTimeoutMinutes)
    .optional()
    .describe('How long a member may not write; 0 ends it'),
  reason: z.string().max(300).optional().describe('For the audit log of the server'),
});
type Args = z.infer<typeof args>;

const member = ({ server_id: server, user_id: user }: Args): string => `/guilds/${server}/members/${user}`;
const ban = ({ server_id: server, user_id: user }: Args): string => `/guilds/${server}/bans/${user}`;
const role = (given: Args): string => `${member(given)}/roles/${given.role_id}`;
const pin = ({ channel_id: channel, message_id: id }: Args): string =>
  `/channels/${channel}/messages/pins/${id}`;

const actions: Readonly<Record<Name, Action<Args>>> = {
  pin_message: {
    needs: ['channel_id', 'message_id'],
    about: 'pins a message',
    call: (given) => ({ method: 'PUT', path: pin(given), reason: given.reason }),
    view: nothing,
  },
  unpin_message: {
    needs: ['channel_id', 'message_id'],
    about: 'unpins it',
    call: (given) => ({ method: 'DELETE', path: pin(given), reason: given.reason }),
    view: nothing,
  },
  delete_message: {
    needs: ['channel_id', 'message_id'],
    about: 'deletes a message for good',
    call: ({ channel_id: channel, message_id: id, reason }) => ({
      method: 'DELETE',
      path: `/channels/${channel}/messages/${id}`,
      reason,
    }),
    view: nothing,
  },
  add_role: {
    needs: ['server_id', 'user_id', 'role_id'],
    about: 'gives a member a role',
    call: (given) => ({ method: 'PUT', path: role(given), reason: given.reason }),
    view: nothing,
  },
  remove_role: {
    needs: ['server_id', 'user_id', 'role_id'],
    about: 'takes it away',
    call: (given) => ({ method: 'DELETE', path: role(given), reason: given.reason }),
    view: nothing,
  },
  timeout_member: {
    needs: ['server_id', 'user_id', 'minutes'],
    about: 'keeps a member from writing for so long',
    call: (given) => ({
      method: 'PATCH',
      path: member(given),
      body: { communication_disabled_until: timeoutEnd(given.minutes ?? 0) },
      reason: given.reason,
    }),
    view: memberView,
  },
  kick_member: {
    needs: ['server_id', 'user_id'],
    about: 'removes a member; they may come back',
    call: (given) => ({ method: 'DELETE', path: member(given), reason: given.reason }),
    view: nothing,
  },
  ban_member: {
    needs: ['server_id', 'user_id'],
    about: 'removes a member for good',
    call: (given) => ({ method: 'PUT', path: ban(given), body: {}, reason: given.reason }),
    view: nothing,
  },
  unban_member: {
    needs: ['server_id', 'user_id'],
    about: 'lets them come back',
    call: (given) => ({ method: 'DELETE', path: ban(given), reason: given.reason }),
    view: nothing,
  },
  create_channel: {
    needs: ['server_id', 'name'],
    about: 'makes a text channel (topic)',
    call: ({ server_id: server, name, topic, reason }) => ({
      method: 'POST',
      path: `/guilds/${server}/channels`,
      body: { name, type: 0, ...(topic === undefined ? {} : { topic }) },
      reason,
    }),
    view: channelView,
  },
  set_topic: {
    needs: ['channel_id', 'topic'],
    about: 'changes the topic of a channel',
    call: ({ channel_id: channel, topic, reason }) => ({
      method: 'PATCH',
      path: `/channels/${channel}`,
      body: { topic },
      reason,
    }),
    view: channelView,
  },
  archive_thread: {
    needs: ['channel_id'],
    about: 'closes a thread; a new message opens it again',
    call: ({ channel_id: channel, reason }) => ({
      method: 'PATCH',
      path: `/channels/${channel}`,
      body: { archived: true },
      reason,
    }),
    view: channelView,
  },
};

function timeoutEnd(minutes: number): string | null {
  return minutes === 0 ? null : new Date(Date.now() + minutes * 60_000).toISOString();
}

/** What a person has to agree to: what cannot be taken back, or shuts somebody out, or gives power. */
const asks: Partial<Record<Name, (given: Args) => string>> = {
  delete_message: ({ message_id: id, channel_id: channel }) =>
    `Delete message ${id} in Discord channel ${channel}`,
  add_role: ({ role_id: id, user_id: user }) => `Give the Discord role ${id} to member ${user}`,
  timeout_member: ({ user_id: user, minutes }) =>
    `Keep Discord member ${user} from writing for ${minutes} minutes`,
  kick_member: ({ user_id: user, server_id: server }) => `Kick member ${user} from Discord server ${server}`,
  ban_member: ({ user_id: user, server_id: server }) => `Ban member ${user} from Discord server ${server}`,
};

registry.register({
  name: 'discord_admin',
  toolset: 'discord_admin',
  emoji: '🛡️',
  schema: {
    description: `Moderates Discord as the bot. Deleting, giving roles, timing out, kicking and banning ask a person first. Actions:\n${describeActions(actions)}`,
    parameters: args,
  },
  handler: (given, { signal }) => runAction(actions[given.action], given, signal),
  checkFn: hasToken,
  requiresEnv: ['DISCORD_BOT_TOKEN'],
  subject: async (given) => {
    const reason = asks[given.action]?.(given);
    return reason === undefined
      ? null
      : { kind: 'rule', key: `discord_admin:${given.action}`, tool: 'discord_admin', reason };
  },
  preview: ({ action, user_id: user, channel_id: channel }) => `${action} ${user ?? channel ?? ''}`.trim(),
});
