import { z } from 'zod';
import { type Call, param, type Route, type RouteContext, read, refusals } from '../route.ts';
import { channelToWire, guildToWire, memberToWire, roleToWire, userToWire } from '../wire.ts';
import { type DiscordGuild, isThread } from '../world.ts';
import { newChannel } from './channels.ts';

const memberBody = z.looseObject({
  nick: z.string().max(32).nullish(),
  communication_disabled_until: z.string().nullish(),
});
const channelBody = z.looseObject({
  name: z.string().min(1).max(100),
  type: z.number().int().optional(),
  topic: z.string().nullish(),
});

function guildOf(call: Call, { world }: RouteContext): DiscordGuild {
  const guild = world.guilds.get(param(call, 'guild_id'));
  if (guild === undefined) throw refusals.unknownGuild();
  return guild;
}

function memberOf(call: Call, context: RouteContext) {
  const member = guildOf(call, context).members.get(param(call, 'user_id'));
  if (member === undefined) throw refusals.unknownMember();
  return member;
}

function may(permission: string, { denied }: RouteContext): void {
  if (denied.has(permission)) throw refusals.missingPermissions();
}

function memberWire(guild: DiscordGuild, userId: string, { world }: RouteContext) {
  const user = world.users.get(userId);
  if (user === undefined || !guild.members.has(userId)) throw refusals.unknownMember();
  return { user: userToWire(user), ...memberToWire(guild, userId) };
}

export const guildRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/guilds/{guild_id}',
    handle(call, context) {
      const {
        channels: _channels,
        threads: _threads,
        members,
        ...guild
      } = guildToWire(guildOf(call, context), context.world);
      return { ...guild, approximate_member_count: Array.isArray(members) ? members.length : 0 };
    },
  },
  {
    method: 'GET',
    path: '/guilds/{guild_id}/channels',
    handle: (call, context) =>
      [...context.world.channels.values()]
        .filter(
          (channel) => channel.guildId === guildOf(call, context).id && !isThread(channel) && !channel.hidden,
        )
        .map((channel) => channelToWire(channel, context.world)),
  },
  {
    method: 'POST',
    path: '/guilds/{guild_id}/channels',
    handle(call, context) {
      may('MANAGE_CHANNELS', context);
      const { name, type = 0, topic } = read(channelBody, call.body);
      const channel = newChannel(context.world, {
        type,
        name,
        topic: topic ?? null,
        guildId: guildOf(call, context).id,
      });
      return channelToWire(channel, context.world);
    },
  },
  {
    method: 'GET',
    path: '/guilds/{guild_id}/threads/active',
    handle(call, context) {
      const { id } = guildOf(call, context);
      const threads = [...context.world.channels.values()].filter(
        (channel) => channel.guildId === id && isThread(channel) && !channel.archived,
      );
      return { threads: threads.map((channel) => channelToWire(channel, context.world)), members: [] };
    },
  },
  {
    method: 'GET',
    path: '/guilds/{guild_id}/roles',
    handle: (call, context) => guildOf(call, context).roles.map(roleToWire),
  },
  {
    method: 'GET',
    path: '/guilds/{guild_id}/members/search',
    handle(call, context) {
      const guild = guildOf(call, context);
      const query = (call.query.get('query') ?? '').toLowerCase();
      return [...guild.members.keys()]
        .filter((id) => context.world.users.get(id)?.name.toLowerCase().startsWith(query))
        .slice(0, Number(call.query.get('limit') ?? 1))
        .map((id) => memberWire(guild, id, context));
    },
  },
  {
    method: 'GET',
    path: '/guilds/{guild_id}/members/{user_id}',
    handle: (call, context) => memberWire(guildOf(call, context), param(call, 'user_id'), context),
  },
  {
    method: 'PATCH',
    path: '/guilds/{guild_id}/members/{user_id}',
    handle(call, context) {
      may('MODERATE_MEMBERS', context);
      const member = memberOf(call, context);
      const { nick, communication_disabled_until: until } = read(memberBody, call.body);
      if (nick !== undefined) member.nick = nick;
      if (until !== undefined) member.timeoutUntil = until;
      return memberWire(guildOf(call, context), param(call, 'user_id'), context);
    },
  },
  {
    method: 'DELETE',
    path: '/guilds/{guild_id}/members/{user_id}',
    handle(call, context) {
      may('KICK_MEMBERS', context);
      memberOf(call, context);
      guildOf(call, context).members.delete(param(call, 'user_id'));
      return undefined;
    },
  },
  ...(['PUT', 'DELETE'] as const).map(
    (method): Route => ({
      method,
      path: '/guilds/{guild_id}/members/{user_id}/roles/{role_id}',
      handle(call, context) {
        may('MANAGE_ROLES', context);
        const member = memberOf(call, context);
        const roleId = param(call, 'role_id');
        member.roles = member.roles.filter((id) => id !== roleId);
        if (method === 'PUT') member.roles.push(roleId);
        return undefined;
      },
    }),
  ),
  {
    method: 'GET',
    path: '/guilds/{guild_id}/bans',
    handle: (call, context) =>
      [...guildOf(call, context).bans].flatMap(([id, reason]) => {
        const user = context.world.users.get(id);
        return user === undefined ? [] : [{ reason, user: userToWire(user) }];
      }),
  },
  ...(['PUT', 'DELETE'] as const).map(
    (method): Route => ({
      method,
      path: '/guilds/{guild_id}/bans/{user_id}',
      handle(call, context) {
        may('BAN_MEMBERS', context);
        const { bans, members } = guildOf(call, context);
        const userId = param(call, 'user_id');
        if (!context.world.users.has(userId)) throw refusals.unknownUser();
        if (method === 'DELETE') bans.delete(userId);
        else {
          bans.set(userId, null);
          members.delete(userId);
        }
        return undefined;
      },
    }),
  ),
];
