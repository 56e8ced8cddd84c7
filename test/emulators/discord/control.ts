import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { drive } from '../drive.ts';
import type { DiscordEmulator } from './discord-emulator.ts';
import { drivable } from './drive.ts';
import type { DiscordUserHandle } from './user.ts';
import { channelTypes, type DiscordChannel, findMessage } from './world.ts';

const kinds = { text: channelTypes.text, announcement: channelTypes.announcement, forum: channelTypes.forum };

/** One wish of whoever plays the people, as JSON. */
const wish = z.discriminatedUnion('do', [
  z.object({ do: z.literal('addUser'), name: z.string(), locale: z.string().optional() }),
  z.object({
    do: z.literal('addChannel'),
    name: z.string(),
    type: z.enum(['text', 'announcement', 'forum']).default('text'),
  }),
  z.object({
    do: z.literal('says'),
    user: z.string(),
    text: z.string(),
    channel: z.string().optional(),
    mention: z.boolean().default(false),
  }),
  z.object({
    do: z.literal('edits'),
    user: z.string(),
    channel: z.string(),
    id: z.string(),
    text: z.string(),
  }),
  z.object({
    do: z.literal('presses'),
    user: z.string(),
    button: z.string(),
    channel: z.string(),
    id: z.string(),
  }),
  z.object({ do: z.literal('submits'), user: z.string(), text: z.string() }),
  z.object({
    do: z.literal('types'),
    user: z.string(),
    command: z.string(),
    text: z.string().default(''),
    channel: z.string().optional(),
  }),
  z.object({
    do: z.literal('uploads'),
    user: z.string(),
    name: z.string(),
    base64: z.string(),
    mimeType: z.string(),
    text: z.string().optional(),
    channel: z.string().optional(),
  }),
  z.object({
    do: z.literal('posts'),
    user: z.string(),
    forum: z.string(),
    title: z.string(),
    text: z.string(),
  }),
  /** The bot's messages in a channel, or in the person's DM. */
  z.object({ do: z.literal('shows'), user: z.string(), channel: z.string().optional() }),
  z.object({ do: z.literal('privately'), user: z.string() }),
  z.object({
    do: z.literal('fail'),
    route: z.string(),
    status: z.number().optional(),
    code: z.number().optional(),
    retryAfter: z.number().optional(),
    hangUp: z.enum(['before', 'after']).optional(),
    times: z.number().optional(),
  }),
  z.object({ do: z.literal('slow'), delayMs: z.number() }),
  z.object({ do: z.literal('dropSocket') }),
  z.object({ do: z.literal('redeliver'), type: z.string().default('MESSAGE_CREATE') }),
  z.object({ do: z.literal('invalidate'), resumable: z.boolean().default(false) }),
  z.object({ do: z.literal('intents'), messageContent: z.boolean() }),
  /** People who each write their next message once the last was answered (../drive.ts). */
  z.object({ do: z.literal('drive'), people: z.number(), messages: z.number() }),
  /** Answer times of interactions so far, violations, open sockets, threads. */
  z.object({ do: z.literal('report') }),
]);
type Wish = z.infer<typeof wish>;

const messageContentIntent = 1 << 15;

/** Serves the user handle and the faults as JSON: `POST / {"do": …}`. */
export function createControl(discord: DiscordEmulator): Server {
  const users = new Map<string, DiscordUserHandle>();
  const { world } = discord;

  function userOf(id: string): DiscordUserHandle {
    const user = users.get(id);
    if (user === undefined) throw new Error(`no user ${id}`);
    return user;
  }
  function channelOf(id: string): DiscordChannel {
    const channel = world.channels.get(id);
    if (channel === undefined) throw new Error(`no channel ${id}`);
    return channel;
  }
  const where = (id: string | undefined) => (id === undefined ? {} : { channel: channelOf(id) });
  function messageOf(channel: string, id: string) {
    const message = findMessage(world, channel, id);
    if (message === undefined) throw new Error(`no message ${id}`);
    return message;
  }

  function play(asked: Wish): unknown {
    switch (asked.do) {
      case 'addUser': {
        const user = discord.addUser(asked.name, asked.locale === undefined ? {} : { locale: asked.locale });
        users.set(user.id, user);
        return { id: user.id, dm: user.dm().id };
      }
      case 'addChannel':
        return { id: discord.addChannel(asked.name, { type: kinds[asked.type] }).id };
      case 'says': {
        const user = userOf(asked.user);
        const say = asked.mention ? user.asks : user.says;
        return { id: say(asked.text, where(asked.channel)).id };
      }
      case 'edits':
        return userOf(asked.user).edits(messageOf(asked.channel, asked.id), asked.text);
      case 'presses':
        return { id: userOf(asked.user).presses(asked.button, messageOf(asked.channel, asked.id)).id };
      case 'submits':
        return { id: userOf(asked.user).submits(asked.text).id };
      case 'types':
        return { id: userOf(asked.user).types(asked.command, asked.text, where(asked.channel).channel).id };
      case 'uploads': {
        const bytes = Buffer.from(asked.base64, 'base64');
        const options = {
          ...where(asked.channel),
          ...(asked.text === undefined ? {} : { text: asked.text }),
        };
        return { id: userOf(asked.user).uploads(asked.name, bytes, asked.mimeType, options).id };
      }
      case 'posts':
        return {
          thread: userOf(asked.user).postsInForum(channelOf(asked.forum), asked.title, asked.text).channelId,
        };
      case 'shows':
        return userOf(asked.user)
          .botShows(where(asked.channel).channel)
          .map(({ id, content, embeds, components, attachments }) => ({
            id,
            content,
            embeds,
            components,
            files: attachments.map(({ name, bytes }) => ({ name, bytes: bytes.length })),
          }));
      case 'privately':
        return userOf(asked.user).privately();
      case 'drive':
        return drive(drivable(discord), asked);
      default:
        return disturb(asked);
    }
  }

  function disturb(
    asked: Exclude<Wish, { user: string } | { do: 'addUser' | 'addChannel' | 'drive' }>,
  ): unknown {
    switch (asked.do) {
      case 'fail': {
        const { do: _do, route, ...fault } = asked;
        return discord.fail(
          route,
          Object.fromEntries(Object.entries(fault).filter(([, value]) => value !== undefined)),
        );
      }
      case 'slow':
        return discord.slow(asked.delayMs);
      case 'dropSocket':
        return discord.dropSocket();
      case 'redeliver':
        return discord.redeliver(asked.type);
      case 'invalidate':
        return discord.gateway.invalidate(asked.resumable);
      case 'intents':
        world.privilegedIntents = asked.messageContent ? messageContentIntent : 0;
        return {};
      case 'report':
        return {
          connections: discord.gateway.connections(),
          identifies: discord.gateway.identifies(),
          resumes: discord.gateway.resumes(),
          violations: discord.violations(),
          answersMs: discord.interactions.map(({ answeredAfterMs }) => answeredAfterMs ?? null),
          channels: [...world.channels.values()].map(({ id, type, name, parentId }) => ({
            id,
            type,
            name,
            parentId,
          })),
          calls: discord.calls.map(({ method, path }) => `${method} ${path}`),
        };
    }
  }

  return createServer(async (request, response) => {
    try {
      const asked = wish.parse(JSON.parse(await text(request)));
      const played = (await play(asked)) ?? {};
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(played));
    } catch (error) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: String(error) }));
    }
  });
}
