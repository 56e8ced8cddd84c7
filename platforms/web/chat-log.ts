import type { Clock } from '../../src/clock.ts';
import { GatewayError } from '../../src/errors.ts';
import type { PlatformMemory } from '../platform.ts';
import { type WebBody, type WebMessage, webMessage } from './message.ts';

export interface NewMessage {
  key: string;
  body: WebBody;
  replyTo?: string;
}

/** One chat's messages: durable, in order, the newest 500. Every method resolves once its change is stored. */
export interface ChatLog {
  /** Revision of the latest change; 0 for an empty chat. */
  readonly revision: number;
  /** A key that is there already gives its message and changes nothing. */
  append(message: NewMessage): Promise<WebMessage>;
  /** Rejects with `platform_refused` when the message is not kept any more. */
  edit(id: string, body: WebBody): Promise<void>;
  get(id: string): WebMessage | undefined;
  find(key: string): WebMessage | undefined;
  /** All that changed after `revision`, in the order of the chat. */
  since(revision: number): WebMessage[];
  /** Forgets everything, on disk too. */
  clear(): Promise<void>;
}

export interface ChatLogOptions {
  chatId: string;
  memory: PlatformMemory;
  clock: Clock;
  /** A message is new, or differs from `before`. Called in the order of the revisions. */
  onChange(message: WebMessage, before: WebMessage | undefined): void;
  /** A message left the log for good. */
  onDropped(message: WebMessage): void;
}

const keptMessages = 500;

export async function openChatLog({
  chatId,
  memory,
  clock,
  onChange,
  onDropped,
}: ChatLogOptions): Promise<ChatLog> {
  const prefix = `message/${chatId}/`;
  const messages = await readMessages(memory, prefix);
  const idsByKey = new Map([...messages.values()].map(({ key, id }) => [key, id]));
  let revision = [...messages.values()].reduce((latest, message) => Math.max(latest, message.revision), 0);
  let serial = [...messages.keys()].reduce((last, id) => Math.max(last, Number(id)), 0);

  // One change at a time: what is stored, the order of revisions and what the page is told stay the same.
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<T>(change: () => Promise<T>): Promise<T> {
    const result = last.then(change, change);
    last = result.catch(() => undefined);
    return result;
  }

  async function put(message: WebMessage): Promise<void> {
    await memory.set(prefix + message.id, message);
    const before = messages.get(message.id);
    revision = message.revision;
    messages.set(message.id, message);
    idsByKey.set(message.key, message.id);
    onChange(message, before);
  }

  async function drop(message: WebMessage): Promise<void> {
    await memory.delete(prefix + message.id);
    messages.delete(message.id);
    idsByKey.delete(message.key);
    onDropped(message);
  }

  function find(key: string): WebMessage | undefined {
    const id = idsByKey.get(key);
    return id === undefined ? undefined : messages.get(id);
  }

  return {
    get revision() {
      return revision;
    },
    append: ({ key, body, replyTo }) =>
      inTurn(async () => {
        const known = find(key);
        if (known !== undefined) return known;
        const message: WebMessage = {
          id: String(serial + 1).padStart(8, '0'),
          revision: revision + 1,
          at: clock.now(),
          key,
          body,
          ...(replyTo !== undefined && { replyTo }),
        };
        await put(message);
        serial += 1;
        for (const old of [...messages.values()].slice(0, -keptMessages)) await drop(old);
        return message;
      }),
    edit: (id, body) =>
      inTurn(async () => {
        const known = messages.get(id);
        if (known === undefined) {
          throw new GatewayError(
            'platform_refused',
            `The web chat keeps no message ${id} in ${chatId} any more.`,
          );
        }
        if (JSON.stringify(known.body) === JSON.stringify(body)) return;
        await put({ ...known, revision: revision + 1, body });
      }),
    get: (id) => messages.get(id),
    find,
    since: (seen) => [...messages.values()].filter((message) => message.revision > seen),
    clear: () =>
      inTurn(async () => {
        for (const message of [...messages.values()]) await drop(message);
      }),
  };
}

async function readMessages(memory: PlatformMemory, prefix: string): Promise<Map<string, WebMessage>> {
  const rows = await memory.list(prefix);
  const messages = rows.map(({ value }) => webMessage.parse(value));
  messages.sort((left, right) => Number(left.id) - Number(right.id));
  return new Map(messages.map((message) => [message.id, message]));
}
