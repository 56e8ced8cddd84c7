import { z } from 'zod';
import { drive } from '../drive.ts';
import { answerJson, type HttpHost, readBytes, startHttp } from '../emulator.ts';
import { drivable } from './drive.ts';
import type { TelegramEmulator } from './telegram-emulator.ts';
import type { UserHandle } from './user.ts';
import type { StoredMessage, TelegramChat } from './world.ts';

const place = { chat: z.number().optional(), topic: z.number().optional() };

/** One wish of whoever plays the people, as JSON. Users and chats are named by id. */
const wish = z.discriminatedUnion('do', [
  z.object({ do: z.literal('addUser'), name: z.string(), locale: z.string().optional() }),
  z.object({ do: z.literal('addGroup'), title: z.string(), forum: z.boolean().default(false) }),
  z.object({ do: z.literal('addTopic'), chat: z.number() }),
  z.object({ do: z.literal('says'), user: z.number(), text: z.string(), ...place }),
  z.object({ do: z.literal('edits'), user: z.number(), message: z.number(), text: z.string(), ...place }),
  z.object({
    do: z.literal('uploads'),
    user: z.number(),
    kind: z.enum(['photo', 'document', 'voice', 'audio', 'video', 'sticker']),
    name: z.string(),
    base64: z.string(),
    caption: z.string().optional(),
    ...place,
  }),
  z.object({ do: z.literal('presses'), user: z.number(), label: z.string(), ...place }),
  z.object({ do: z.literal('blocks'), user: z.number() }),
  /** All messages of a chat, people's too. */
  z.object({ do: z.literal('transcript'), chat: z.number() }),
  z.object({
    do: z.literal('waitFor'),
    text: z.string(),
    chat: z.number().optional(),
    timeoutMs: z.number().default(10_000),
  }),
  z.object({
    do: z.literal('fail'),
    method: z.string(),
    status: z.number(),
    description: z.string().optional(),
    retryAfter: z.number().optional(),
    times: z.number().default(1),
  }),
  z.object({
    do: z.literal('dropSocket'),
    method: z.string(),
    when: z.enum(['before', 'after']).default('before'),
    times: z.number().default(1),
  }),
  z.object({ do: z.literal('hang'), method: z.string(), times: z.number().default(1) }),
  z.object({ do: z.literal('slow'), ms: z.number(), method: z.string().default('*') }),
  z.object({ do: z.literal('clearFaults') }),
  z.object({ do: z.literal('redeliver'), count: z.number().default(1) }),
  z.object({ do: z.literal('reorder') }),
  /** People who each write their next message once the last was answered (../drive.ts). */
  z.object({ do: z.literal('drive'), people: z.number(), messages: z.number() }),
  /** Broken rules, unconfirmed updates, calls by method. */
  z.object({ do: z.literal('report') }),
]);
type Wish = z.infer<typeof wish>;

/** Serves the people and the faults as JSON over HTTP: `POST / {"do": …}`. */
export function startControl(emulator: TelegramEmulator): Promise<HttpHost> {
  const users = new Map<number, UserHandle>();
  const userOf = (id: number) => found(users.get(id), `user ${id}`);
  const chatOf = (id: number) => found(emulator.world.chats.get(id), `chat ${id}`);
  const at = ({ chat, topic }: { chat?: number | undefined; topic?: number | undefined }) => ({
    ...(chat !== undefined && { in: chatOf(chat) }),
    ...(topic !== undefined && { topic }),
  });
  const said = ({ message, update }: ReturnType<UserHandle['says']>) => ({
    message: message.id,
    update: update.update_id,
  });

  async function grant(asked: Wish): Promise<unknown> {
    switch (asked.do) {
      case 'addUser': {
        const user = emulator.addUser(asked.name, asked.locale === undefined ? {} : { locale: asked.locale });
        users.set(user.person.id, user);
        return { user: user.person.id, chat: user.chat.id };
      }
      case 'addGroup':
        return { chat: emulator.addGroup(asked.title, { forum: asked.forum }).id };
      case 'addTopic':
        return { topic: emulator.addTopic(chatOf(asked.chat)) };
      case 'says':
        return said(userOf(asked.user).says(asked.text, at(asked)));
      case 'edits': {
        const user = userOf(asked.user);
        const messages = emulator.world.messages.get(asked.chat ?? user.chat.id) ?? [];
        return said(
          user.edits(
            found(
              messages.find(({ id }) => id === asked.message),
              'message',
            ),
            asked.text,
          ),
        );
      }
      case 'uploads': {
        const { kind, name, caption } = asked;
        const how = { ...at(asked), ...(caption !== undefined && { caption }) };
        return said(
          userOf(asked.user).uploads({ kind, name, bytes: Buffer.from(asked.base64, 'base64') }, how),
        );
      }
      case 'presses':
        return userOf(asked.user).presses(asked.label, at(asked));
      case 'blocks':
        return userOf(asked.user).blocks();
      case 'transcript':
        return (emulator.world.messages.get(asked.chat) ?? []).map(shown);
      case 'waitFor':
        return shown(
          await emulator.until.botShows(
            asked.text,
            asked.chat === undefined ? undefined : chatOf(asked.chat),
            asked.timeoutMs,
          ),
        );
      case 'drive':
        return drive(drivable(emulator), asked);
      case 'report':
        return report(emulator);
      default:
        return spoil(emulator, asked);
    }
  }

  return startHttp(async (request, response) => {
    try {
      const asked = wish.parse(JSON.parse((await readBytes(request)).toString('utf8')));
      answerJson(response, 200, (await grant(asked)) ?? {});
    } catch (error) {
      answerJson(response, 400, { error: String(error) });
    }
  });
}

type Fault = Extract<
  Wish,
  { do: 'fail' | 'dropSocket' | 'hang' | 'slow' | 'clearFaults' | 'redeliver' | 'reorder' }
>;

function spoil(emulator: TelegramEmulator, asked: Fault): unknown {
  switch (asked.do) {
    case 'fail': {
      const { method, status, description, retryAfter, times } = asked;
      const how = {
        ...(description !== undefined && { description }),
        ...(retryAfter !== undefined && { retryAfter }),
      };
      return emulator.fail(method, { status, times, ...how });
    }
    case 'dropSocket':
      return emulator.dropSocket(asked.method, asked.when, asked.times);
    case 'hang':
      return emulator.hang(asked.method, asked.times);
    case 'slow':
      return emulator.slow(asked.ms, asked.method);
    case 'clearFaults':
      return emulator.clearFaults();
    case 'redeliver':
      return emulator.delivery.redeliver(asked.count);
    case 'reorder':
      return emulator.delivery.reorder();
  }
}

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`no ${what}`);
  return value;
}

function shown({ id, from, text, keyboard, threadId, file, edits }: StoredMessage) {
  const buttons = keyboard.flat().map((button) => button.text);
  return { id, bot: from.is_bot, from: from.first_name, text, buttons, threadId, file: file?.name, edits };
}

function report({ violations, delivery, calls, world }: TelegramEmulator) {
  const byMethod: Record<string, number> = {};
  for (const { method } of calls) byMethod[method] = (byMethod[method] ?? 0) + 1;
  const chats: TelegramChat[] = [...world.chats.values()];
  return { violations, pending: delivery.pending().length, calls: byMethod, chats };
}
