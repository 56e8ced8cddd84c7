import { z } from 'zod';
import { param, type Route, read, refusals } from '../route.ts';
import { channelToWire, userToWire } from '../wire.ts';
import { channelTypes } from '../world.ts';
import { newChannel } from './channels.ts';

// discord.com/developers/docs/interactions/application-commands#application-command-object-application-command-naming
const commandName = z.string().regex(/^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u);
const command = z.looseObject({
  name: commandName,
  description: z.string().min(1).max(100),
  type: z.literal(1).nullish(),
  options: z.array(z.looseObject({ name: commandName, description: z.string().min(1).max(100) })).nullish(),
});
const dmBody = z.object({ recipient_id: z.string() });
/** Of a large bot, so that a test with several shards need not wait five seconds between them. */
const identifyLimit = { total: 1000, remaining: 999, reset_after: 14_400_000, max_concurrency: 16 };
const messageContentIntent = 1 << 15;

export const applicationRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/gateway/bot',
    handle: (_call, { root, world }) => ({
      url: root().replace('http', 'ws'),
      shards: world.advisedShards,
      session_start_limit: identifyLimit,
    }),
  },
  { method: 'GET', path: '/users/@me', handle: (_call, { world }) => userToWire(world.bot) },
  {
    method: 'GET',
    path: '/users/@me/guilds',
    handle: (_call, { world }) =>
      [...world.guilds.values()].map(({ id, name, ownerId }) => ({
        id,
        name,
        icon: null,
        owner: ownerId === world.bot.id,
        permissions: '0',
        features: [],
      })),
  },
  {
    method: 'GET',
    path: '/users/{user_id}',
    handle(call, { world }) {
      const user = world.users.get(param(call, 'user_id'));
      if (user === undefined) throw refusals.unknownUser();
      return userToWire(user);
    },
  },
  {
    method: 'POST',
    path: '/users/@me/channels',
    handle(call, { world }) {
      const { recipient_id: recipientId } = read(dmBody, call.body);
      if (!world.users.has(recipientId)) throw refusals.unknownUser();
      const known = [...world.channels.values()].find((channel) => channel.recipientId === recipientId);
      return channelToWire(known ?? newChannel(world, { type: channelTypes.dm, recipientId }), world);
    },
  },
  {
    method: 'GET',
    path: '/applications/@me',
    handle: (_call, { world }) => ({
      id: world.applicationId,
      name: world.bot.name,
      description: '',
      icon: null,
      bot_public: true,
      bot_require_code_grant: false,
      verify_key: '0'.repeat(64),
      // GATEWAY_MESSAGE_CONTENT_LIMITED: the switch of an app in fewer than a hundred servers.
      flags: (world.privilegedIntents & messageContentIntent) === 0 ? 0 : 1 << 19,
      bot: userToWire(world.bot),
    }),
  },
  {
    method: 'GET',
    path: '/applications/{application_id}/commands',
    handle: (_call, { world }) => world.commands,
  },
  {
    method: 'PUT',
    path: '/applications/{application_id}/commands',
    handle(call, { world }) {
      const wanted = read(z.array(command).max(100), call.body);
      const known = new Map(world.commands.map((entry) => [entry['name'], entry['id']]));
      world.commandWrites += 1;
      world.commands = wanted.map((entry) => ({
        default_member_permissions: null,
        nsfw: false,
        contexts: null,
        integration_types: [0],
        options: [],
        ...entry,
        id: known.get(entry.name) ?? world.nextId(),
        application_id: world.applicationId,
        version: world.nextId(),
        type: 1,
      }));
      return world.commands;
    },
  },
];
