import { randomInt } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Described, describedIn } from '../described.ts';
import { preciseNow } from '../drive.ts';
import { answerJson, createChanges, createFaults, type Fault, startHttp } from '../emulator.ts';
import { createDelivery, type Delivery, type QueuedUpdate } from './delivery.ts';
import { loadDescription } from './description.ts';
import { type MethodContext, methods } from './methods.ts';
import { readRequest } from './request.ts';
import { createUser, type Toast, type UserHandle } from './user.ts';
import { ApiRefusal, badRequest, type Fields } from './wire.ts';
import { createWorld, type StoredMessage, type TelegramChat, type World } from './world.ts';

export interface EmulatorOptions {
  port?: number;
  token?: string;
  /** Methods that this server is too old to know. */
  unknownMethods?: readonly string[];
  /** Keep every call in `calls`. Off for long runs. */
  record?: boolean;
}

export interface Call {
  method: string;
  fields: Fields;
  at: number;
}

/** Told of what crosses the wire, for whoever measures. Times are epoch milliseconds, finer than a millisecond. */
export interface Watcher {
  handedOut(updates: readonly QueuedUpdate[], at: number): void;
  /** A call that took effect; `at` is when its request began to arrive. */
  called(method: string, fields: Fields, at: number): void;
}

export interface TelegramEmulator {
  apiRoot: string;
  token: string;
  world: World;
  /** Calls in their order, getUpdates left out. */
  calls: Call[];
  /** What broke a rule of the API; a good client leaves it empty. */
  violations: string[];
  drafts: { chat: TelegramChat; text: string }[];
  delivery: Delivery;
  addUser(name: string, options?: { locale?: string }): UserHandle;
  addGroup(title: string, options?: { forum?: boolean }): TelegramChat;
  addTopic(group: TelegramChat): number;
  fail(
    method: string,
    how: { status: number; description?: string; retryAfter?: number; times?: number },
  ): void;
  dropSocket(method: string, when?: 'before' | 'after', times?: number): void;
  hang(method: string, times?: number): void;
  slow(ms: number, method?: string): void;
  clearFaults(): void;
  described(): Described;
  /** Returns what ends the watching. */
  watch(watcher: Watcher): () => void;
  /** The bot's messages in a chat, oldest first. */
  shown(chat: TelegramChat): StoredMessage[];
  until: {
    /** The newest message of the bot, anywhere or in `chat`, that holds the text. */
    botShows(text: string | RegExp, chat?: TelegramChat, timeoutMs?: number): Promise<StoredMessage>;
    called(method: string, times?: number, timeoutMs?: number): Promise<Call>;
    /** True at last. */
    holds(what: string, condition: () => boolean, timeoutMs?: number): Promise<true>;
  };
  close(): Promise<void>;
}

/** Telegram's Bot API, strict: what the API would refuse or ignore, it refuses, and keeps the complaint. */
export async function startTelegramEmulator(options: EmulatorOptions = {}): Promise<TelegramEmulator> {
  // One gateway a token on a machine: runs side by side need bots of their own.
  const token =
    options.token ?? `${randomInt(100_000_000, 999_999_999)}:AAtest-token-of-the-emulator-0123456789`;
  const world = createWorld(Number(token.split(':')[0]));
  const unknown = new Set(options.unknownMethods);
  const record = options.record ?? true;
  const describes = loadDescription();
  const received: string[] = [];
  const faults = createFaults();
  const calls: Call[] = [];
  const violations: string[] = [];
  const drafts: { chat: TelegramChat; text: string }[] = [];
  const toasts = new Map<string, Toast>();
  const changes = createChanges(() => describeWorld(world, violations));
  const watchers = new Set<Watcher>();
  const delivery = createDelivery(changes.announce, (updates) => {
    for (const watcher of watchers) watcher.handedOut(updates, preciseNow());
  });

  const context: MethodContext = {
    world,
    setWebhook: delivery.setWebhook,
    onPressAnswered: (queryId, answer) => void toasts.set(queryId, answer),
    onDraft: (chat, text) => {
      if (record) drafts.push({ chat, text });
    },
    onAction: () => undefined,
  };

  async function answer(method: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = preciseNow();
    const { fields, files } = await readRequest(request);
    const run = methods[method];
    if (unknown.has(method) || (run === undefined && method !== 'getUpdates'))
      throw new ApiRefusal(404, 'Not Found');
    const fault = faults.take(method);
    await meet(fault, response);
    if (response.destroyed) return;
    if (record) received.push(method);
    const complaints = describes(method, fields);
    if (complaints.length > 0) {
      violations.push(...complaints);
      throw badRequest(complaints.join('; '));
    }
    if (run === undefined) return delivery.poll(fields, response);
    const result = run({ fields, files }, context);
    if (record) calls.push({ method, fields, at: Date.now() });
    for (const watcher of watchers) watcher.called(method, fields, at);
    if (fault?.kind === 'drop' && fault.when === 'after') response.destroy();
    else answerJson(response, 200, { ok: true, result });
    changes.announce();
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const [, kind = '', method = ''] = /^\/(file\/)?bot[^/]+\/(.+)$/.exec(path) ?? [];
    if (!path.includes(`bot${token}/`))
      return answerJson(response, 401, refusalBody(new ApiRefusal(401, 'Unauthorized')));
    if (kind !== '') return serveFile(method, response);
    try {
      await answer(method, request, response);
    } catch (error) {
      if (response.destroyed) return;
      if (!(error instanceof ApiRefusal)) throw error;
      if (record) calls.push({ method, fields: { refused: error.message }, at: Date.now() });
      answerJson(response, error.code, refusalBody(error));
      changes.announce();
    }
  }

  function serveFile(path: string, response: ServerResponse): void {
    const file = world.files.get(path.replace('documents/', ''));
    if (file === undefined) {
      answerJson(response, 404, refusalBody(new ApiRefusal(404, 'Not Found')));
      return;
    }
    response.writeHead(200, { 'content-type': file.mimeType, 'content-length': file.bytes.length });
    response.end(file.bytes);
  }

  const host = await startHttp(serve, options.port);
  let nextPerson = 1_000;
  let nextGroup = -1_001_000_000_000;

  return {
    apiRoot: host.url,
    token,
    world,
    calls,
    violations,
    drafts,
    delivery,
    addUser(name, { locale } = {}) {
      const id = nextPerson++;
      const person = {
        id,
        first_name: name,
        is_bot: false,
        ...(locale !== undefined && { language_code: locale }),
      };
      const chat: TelegramChat = { id, type: 'private', first_name: name };
      world.chats.set(id, chat);
      return createUser(person, chat, { world, delivery, changes, toasts });
    },
    addGroup(title, { forum = false } = {}) {
      const chat: TelegramChat = {
        id: nextGroup--,
        type: 'supergroup',
        title,
        ...(forum && { is_forum: true as const }),
      };
      world.chats.set(chat.id, chat);
      world.topics.set(chat.id, new Set());
      return chat;
    },
    addTopic(group) {
      const id = world.nextId(group);
      world.topics.get(group.id)?.add(id);
      return id;
    },
    fail: (method, { times, ...how }) => faults.add(method, { kind: 'fail', ...how }, times),
    dropSocket: (method, when = 'before', times = 1) => faults.add(method, { kind: 'drop', when }, times),
    hang: (method, times = 1) => faults.add(method, { kind: 'hang' }, times),
    slow: (ms, method = '*') => faults.add(method, { kind: 'delay', ms }, Number.POSITIVE_INFINITY),
    clearFaults: faults.clear,
    described: () => describedIn(received, describes.knows),
    watch(watcher) {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    shown: (chat) => (world.messages.get(chat.id) ?? []).filter(({ from }) => from.id === world.bot.id),
    until: {
      botShows: (text, chat, timeoutMs) =>
        changes.until(`the bot to show ${text}`, () => findShown(world, text, chat), timeoutMs),
      called: (method, times = 1, timeoutMs) =>
        changes.until(
          `${times} calls of ${method}`,
          () => calls.filter((call) => call.method === method)[times - 1],
          timeoutMs,
        ),
      holds: (what, condition, timeoutMs) =>
        changes.until(what, () => (condition() ? true : undefined), timeoutMs),
    },
    async close() {
      delivery.close();
      await host.close();
    },
  };
}

/** Lets a fault happen before the call takes effect. One that drops the connection afterwards is left to the caller. */
async function meet(fault: Fault | undefined, response: ServerResponse): Promise<void> {
  switch (fault?.kind) {
    case undefined:
      return;
    case 'delay':
      return new Promise((resolve) => setTimeout(resolve, fault.ms));
    case 'hang':
      return new Promise((resolve) => response.once('close', resolve));
    case 'drop':
      if (fault.when === 'before') response.destroy();
      return;
    case 'fail': {
      const { status, description = statusText[status] ?? 'Error', retryAfter } = fault;
      const wait = retryAfter === undefined ? undefined : { retry_after: retryAfter };
      throw new ApiRefusal(
        status,
        retryAfter === undefined ? description : `${description}: retry after ${retryAfter}`,
        wait,
      );
    }
  }
}

const statusText: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden: bot was blocked by the user',
  404: 'Not Found',
  409: 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
};

function refusalBody({ code, message, parameters }: ApiRefusal) {
  return {
    ok: false,
    error_code: code,
    description: message,
    ...(parameters !== undefined && { parameters }),
  };
}

function findShown(
  world: World,
  text: string | RegExp,
  chat: TelegramChat | undefined,
): StoredMessage | undefined {
  const chats = chat === undefined ? [...world.messages.values()] : [world.messages.get(chat.id) ?? []];
  const fits = (shown: string) => (typeof text === 'string' ? shown.includes(text) : text.test(shown));
  return chats.flat().findLast((message) => message.from.id === world.bot.id && fits(message.text));
}

function describeWorld(world: World, violations: readonly string[]): string {
  const lines = [...world.messages.values()]
    .flat()
    .slice(-20)
    .map(({ from, text }) => `${from.first_name}: ${text.slice(0, 200)}`);
  return [...lines, ...violations.map((violation) => `VIOLATION ${violation}`)].join('\n');
}
