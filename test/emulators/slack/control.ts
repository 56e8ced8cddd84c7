import { createServer, type Server } from 'node:http';
import { z } from 'zod';
import { drive } from '../drive.ts';
import { readBytes } from '../emulator.ts';
import { drivable } from './drive.ts';
import type { SlackEmulator } from './slack-emulator.ts';
import type { SlackUserHandle } from './user.ts';
import { findMessage, type SlackChannel } from './world.ts';

const place = { channel: z.string().optional(), threadTs: z.string().optional() };

/** One wish of whoever plays the people, as JSON. */
const wish = z.discriminatedUnion('do', [
  z.object({ do: z.literal('addUser'), name: z.string(), locale: z.string().optional() }),
  z.object({
    do: z.literal('addChannel'),
    name: z.string(),
    type: z.enum(['channel', 'group', 'mpim']).default('channel'),
    members: z.array(z.string()),
  }),
  z.object({
    do: z.literal('says'),
    user: z.string(),
    text: z.string(),
    mention: z.boolean().default(false),
    ...place,
  }),
  z.object({
    do: z.literal('presses'),
    user: z.string(),
    button: z.string(),
    channel: z.string(),
    ts: z.string(),
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
    mimetype: z.string(),
    text: z.string().optional(),
    ...place,
  }),
  /** The bot's messages in a channel, or in the person's DM. */
  z.object({ do: z.literal('shows'), user: z.string(), channel: z.string().optional() }),
  z.object({ do: z.literal('privately'), user: z.string() }),
  z.object({
    do: z.literal('fail'),
    method: z.string(),
    error: z.string().optional(),
    status: z.number().optional(),
    retryAfter: z.number().optional(),
    times: z.number().optional(),
  }),
  z.object({ do: z.literal('slow'), delayMs: z.number() }),
  z.object({ do: z.literal('dropSocket') }),
  z.object({ do: z.literal('refreshSocket') }),
  z.object({ do: z.literal('redeliverAll') }),
  z.object({ do: z.literal('useHttp'), url: z.string() }),
  /** People who each write their next message once the last was answered (../drive.ts). */
  z.object({ do: z.literal('drive'), people: z.number(), messages: z.number() }),
  /** Acknowledgement times so far, violations, open sockets. */
  z.object({ do: z.literal('report') }),
]);
type Wish = z.infer<typeof wish>;

/** Serves the user handle and the faults as JSON: `POST / {"do": …}`. */
export function createControl(slack: SlackEmulator): Server {
  const users = new Map<string, SlackUserHandle>();

  function userOf(id: string): SlackUserHandle {
    const user = users.get(id);
    if (user === undefined) throw new Error(`no user ${id}`);
    return user;
  }
  function channelOf(id: string | undefined): { channel?: SlackChannel } {
    if (id === undefined) return {};
    const channel = slack.world.channels.get(id);
    if (channel === undefined) throw new Error(`no channel ${id}`);
    return { channel };
  }
  const where = (asked: { channel?: string | undefined; threadTs?: string | undefined }) => ({
    ...channelOf(asked.channel),
    ...(asked.threadTs === undefined ? {} : { threadTs: asked.threadTs }),
  });

  function grant(asked: Wish): unknown {
    switch (asked.do) {
      case 'addUser': {
        const user = slack.addUser(asked.name, asked.locale === undefined ? {} : { locale: asked.locale });
        users.set(user.id, user);
        return { id: user.id, dm: user.dm().id };
      }
      case 'addChannel':
        return { id: slack.addChannel(asked.name, asked.type, asked.members.map(userOf)).id };
      case 'says': {
        const text = asked.mention ? `<@${slack.team.botUserId}> ${asked.text}` : asked.text;
        return { ts: userOf(asked.user).says(text, where(asked)).message.ts };
      }
      case 'presses': {
        const message = findMessage(slack.world, asked.channel, asked.ts);
        if (message === undefined) throw new Error(`no message ${asked.ts}`);
        return userOf(asked.user).presses(asked.button, message);
      }
      case 'submits':
        return userOf(asked.user).submits(asked.text);
      case 'types':
        return userOf(asked.user).types(asked.command, asked.text, channelOf(asked.channel).channel);
      case 'uploads': {
        const bytes = Buffer.from(asked.base64, 'base64');
        const options = { ...where(asked), ...(asked.text === undefined ? {} : { text: asked.text }) };
        return { ts: userOf(asked.user).uploads(asked.name, bytes, asked.mimetype, options).message.ts };
      }
      case 'shows':
        return userOf(asked.user)
          .botShows(channelOf(asked.channel).channel)
          .map(({ ts, threadTs, text, blocks, streaming, files }) => ({
            ts,
            threadTs,
            text,
            blocks,
            streaming,
            files: files.map(({ name, bytes }) => ({ name, bytes: bytes.length })),
          }));
      case 'privately':
        return userOf(asked.user).privately();
      case 'fail':
        return slack.fail(asked.method, definedOnly(asked));
      case 'slow':
        return slack.slow(asked.delayMs);
      case 'dropSocket':
        return slack.dropSocket();
      case 'refreshSocket':
        return slack.refreshSocket();
      case 'redeliverAll':
        return slack.receipts.map(slack.redeliver).length;
      case 'useHttp':
        return slack.useHttp({ url: asked.url, signingSecret: slack.signingSecret });
      case 'drive':
        return drive(drivable(slack), asked);
      case 'report':
        return {
          connections: slack.connections(),
          violations: slack.violations(),
          acksMs: slack.receipts.map(({ ackMs }) => ackMs ?? null),
          calls: slack.calls.map(({ method, error }) => ({ method, error })),
        };
    }
  }

  return createServer(async (request, response) => {
    try {
      const asked = wish.parse(JSON.parse((await readBytes(request)).toString('utf8')));
      const granted = (await grant(asked)) ?? {};
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(granted));
    } catch (error) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: String(error) }));
    }
  });
}

function definedOnly({ error, status, retryAfter, times }: Extract<Wish, { do: 'fail' }>) {
  return {
    ...(error === undefined ? {} : { error }),
    ...(status === undefined ? {} : { status }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(times === undefined ? {} : { times }),
  };
}
