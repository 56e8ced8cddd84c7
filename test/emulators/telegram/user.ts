import type { Changes } from '../emulator.ts';
import type { Delivery, QueuedUpdate } from './delivery.ts';
import type { UploadedFile } from './wire.ts';
import {
  addMessage,
  type Person,
  type StoredMessage,
  type TelegramChat,
  toWire,
  type World,
} from './world.ts';

/** Where something is said: the private chat with the bot when no chat is named. */
export interface Place {
  in?: TelegramChat;
  topic?: number;
}

export interface UserHandle {
  person: Person;
  chat: TelegramChat;
  says(text: string, how?: Place & { replyTo?: StoredMessage }): Said;
  edits(message: StoredMessage, text: string): Said;
  /** Sends a file; parts of one album share `album`. */
  uploads(file: Upload, how?: Place & { caption?: string; album?: string }): Said;
  /** Taps the newest button whose label holds `label`, or the one of `message`. Resolves with the bot's toast. */
  presses(label: string, where?: Place & { message?: StoredMessage }): Promise<Toast>;
  /** The bot can write to this person no more. */
  blocks(): void;
}

export interface Upload {
  kind: 'photo' | 'document' | 'voice' | 'audio' | 'video' | 'sticker';
  name?: string;
  bytes: Buffer;
  mimeType?: string;
  emoji?: string;
}

export interface Said {
  message: StoredMessage;
  update: QueuedUpdate;
}

export interface Toast {
  text: string;
  alert: boolean;
}

export interface UserContext {
  world: World;
  delivery: Delivery;
  changes: Changes;
  toasts: Map<string, Toast>;
}

let lastQuery = 0;

export function createUser(person: Person, chat: TelegramChat, context: UserContext): UserHandle {
  const { world, delivery, changes, toasts } = context;

  function write({ in: place = chat, topic }: Place, content: Partial<StoredMessage>): StoredMessage {
    return addMessage(world, {
      text: '',
      source: {},
      keyboard: [],
      silent: false,
      edits: 0,
      ...content,
      id: world.nextId(place),
      chat: place,
      from: person,
      ...(topic !== undefined && { threadId: topic }),
      date: Math.floor(Date.now() / 1000),
    });
  }

  function keep({ bytes, name = 'file', mimeType = 'application/octet-stream' }: Upload): string {
    const id = `file${world.files.size + 1}`;
    const file: UploadedFile = { name, mimeType, bytes };
    world.files.set(id, file);
    return id;
  }

  return {
    person,
    chat,
    says(text, how = {}) {
      const replyTo = how.replyTo === undefined ? {} : { replyTo: how.replyTo.id };
      const message = write(how, { text, ...replyTo });
      const update = delivery.push({ message: { ...toWire(world, message), entities: entitiesOf(text) } });
      return { message, update };
    },
    edits(message, text) {
      message.text = text;
      message.edits += 1;
      const update = delivery.push({
        edited_message: { ...toWire(world, message), entities: entitiesOf(text) },
      });
      return { message, update };
    },
    uploads(file, how = {}) {
      const id = keep(file);
      const message = write(how, { text: how.caption ?? '' });
      const { text: _text, ...wire } = toWire(world, message);
      const update = delivery.push({
        message: {
          ...wire,
          ...media(file, id),
          ...(how.caption !== undefined && {
            caption: how.caption,
            caption_entities: entitiesOf(how.caption),
          }),
          ...(how.album !== undefined && { media_group_id: how.album }),
        },
      });
      return { message, update };
    },
    async presses(label, { in: place = chat, message } = {}) {
      const findButton = () => {
        const list = message === undefined ? (world.messages.get(place.id) ?? []) : [message];
        for (const candidate of list.toReversed()) {
          const button = candidate.keyboard.flat().find(({ text }) => text.includes(label));
          if (button?.callback_data !== undefined) return { on: candidate, data: button.callback_data };
        }
        return undefined;
      };
      const { on, data } = await changes.until(`a button "${label}"`, findButton);
      const id = `query${++lastQuery}`;
      delivery.push({
        callback_query: { id, from: person, message: toWire(world, on), chat_instance: '1', data },
      });
      return changes.until(`the answer to "${label}"`, () => toasts.get(id));
    },
    blocks() {
      world.closedChats.add(chat.id);
      changes.announce();
    },
  };
}

function media({ kind, name, bytes, mimeType, emoji }: Upload, file_id: string): Record<string, unknown> {
  const file = { file_id, file_unique_id: `u${file_id}`, file_size: bytes.length };
  if (kind === 'photo')
    return {
      photo: [
        { ...file, file_id: 'small', width: 90, height: 90 },
        { ...file, width: 900, height: 900 },
      ],
    };
  if (kind === 'sticker') return { sticker: { ...file, emoji, type: 'regular', width: 512, height: 512 } };
  return {
    [kind]: {
      ...file,
      ...(name !== undefined && { file_name: name }),
      ...(mimeType !== undefined && { mime_type: mimeType }),
    },
  };
}

/** Commands at the beginning and mentions, as Telegram's clients find them. */
function entitiesOf(text: string): { type: string; offset: number; length: number }[] {
  return Array.from(text.matchAll(/(?<=^|\s)(?:\/\w+(?:@\w+)?|@\w{4,32})/g), (match) => ({
    type: match[0].startsWith('/') ? 'bot_command' : 'mention',
    offset: match.index,
    length: match[0].length,
  }));
}
