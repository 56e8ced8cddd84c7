import { join } from 'node:path';
import type { Clock } from '../../src/clock.ts';
import { GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type {
  BotCommand,
  ChatAddress,
  Payload,
  Platform,
  PlatformCapabilities,
  PlatformMemory,
  PlatformSink,
} from '../platform.ts';
import { createActivity } from './activity.ts';
import { openChats } from './chats.ts';
import { createEventHub, type HubEvent } from './event-hub.ts';
import { createFiles, type WebFiles } from './files.ts';
import { createInbound } from './inbound.ts';
import { chatIdShape, type WebBody, type WebMessage, type WebPayload, webPayload } from './message.ts';
import { renderWeb, textUnits } from './render.ts';
import { createRoutes } from './routes.ts';

export interface WebOptions {
  /** Null lets a request go on; otherwise the answer to give instead, such as a sign-in page. */
  admit(request: Request): Response | null;
  /** Where uploads and sent files are kept, such as `<home>/web`. */
  folder: string;
  /** How the one person of this platform is called in outcomes, such as "Approved once by Ann". */
  personName?: string;
}

export interface WebDependencies {
  log: Log;
  clock: Clock;
  memory: PlatformMemory;
}

const maxFileBytes = 100_000_000;
const pingEveryMs = 20_000;

const capabilities: PlatformCapabilities = {
  attended: true,
  buttons: true,
  edits: true,
  threads: false,
  reactions: false,
  files: true,
  stream: 'edit',
  draftKinds: [],
  idempotentSend: true,
  replaysMissed: true,
  limits: {
    textUnits,
    captionUnits: textUnits,
    buttonIdBytes: 64,
    fileBytesIn: maxFileBytes,
    fileBytesOut: maxFileBytes,
  },
  pace: {
    perChatPerSecond: 100,
    perChatBurst: 100,
    groupPerMinute: 6_000,
    perBotPerSecond: 1_000,
    minEditIntervalMs: 80,
  },
};

/** The chat page that the gateway serves itself, for one authenticated person, `web`. */
export async function createWeb(
  options: WebOptions,
  { log, clock, memory }: WebDependencies,
): Promise<Platform> {
  const hub = createEventHub();
  const activity = createActivity(clock, (chatId, working) =>
    hub.publish(chatId, { name: 'activity', data: { working } }),
  );
  const files = createFiles(join(options.folder, 'files'), maxFileBytes);
  const chats = await openChats({
    memory,
    clock,
    onChange: (chatId, message, before) => hub.publish(chatId, changeEvent(message, before)),
    onDropped: (message) => void forgetFiles(files, message, log),
    onList: () => hub.publish(null, { name: 'chats', data: chats.list() }),
  });
  let sink: PlatformSink | null = null;
  let commands: readonly BotCommand[] = [];
  let stopPings: (() => void) | null = null;

  async function follow(chatId: string, seen: number): Promise<Response> {
    const chat = await chats.log(chatId);
    // A page that saw more than there is has seen another state directory: it starts over.
    const from = seen > chat.revision ? 0 : seen;
    const data = {
      full: from === 0,
      messages: chat.since(from),
      chats: chats.list(),
      commands,
      working: activity.isWorking(chatId),
      now: clock.now(),
    };
    return hub.open(chatId, { name: 'sync', data, revision: chat.revision });
  }

  function keepAlive(): void {
    stopPings = clock.after(pingEveryMs, () => {
      sink?.alive();
      hub.publish(null, { name: 'ping', data: {} });
      keepAlive();
    });
  }

  return {
    name: 'web',
    capabilities,
    routes: createRoutes({
      admit: options.admit,
      sink: () => sink,
      follow,
      inbound: createInbound({ chats, files, clock, personName: options.personName ?? 'you' }),
      chats,
      files,
      maxFileBytes,
      log,
    }),
    async connect(given, known) {
      sink = given;
      commands = known;
      keepAlive();
      sink.report({ state: 'connected', account: 'web' });
      sink.alive();
    },
    async disconnect() {
      stopPings?.();
      activity.stop();
      hub.closeAll();
      sink?.report({ state: 'disconnected' });
      sink = null;
    },
    render: renderWeb,
    async deliver(chat, payload, { key, replyTo }) {
      const chatId = chatIdOf(chat);
      const chatLog = await chats.log(chatId);
      const known = chatLog.find(key);
      if (known !== undefined) return { messageId: known.id };
      const body = await bodyOf(parsePayload(payload), files);
      const message = await chatLog.append({ key, body, ...(replyTo !== undefined && { replyTo }) });
      await chats.touch(chatId, '');
      return { messageId: message.id };
    },
    async findDelivered(chat, _payload, key) {
      return (await chats.log(chatIdOf(chat))).find(key)?.id ?? null;
    },
    async edit(chat, messageId, payload) {
      const body = await bodyOf(parsePayload(payload), files);
      await (await chats.log(chatIdOf(chat))).edit(messageId, body);
    },
    async remove(chat, messageId) {
      const chatLog = await chats.log(chatIdOf(chat));
      const message = chatLog.get(messageId);
      if (message === undefined) return;
      await chatLog.edit(messageId, { kind: 'removed' });
      await forgetFiles(files, message, log);
    },
    async showActivity(chat, state) {
      activity.show(chatIdOf(chat), state === 'working');
    },
    async draft() {
      throw new GatewayError('platform_refused', 'The web chat streams by edits and knows no drafts.');
    },
    async react() {
      throw new GatewayError('platform_refused', 'The web chat shows no reactions.');
    },
    download: (attachment, path) => files.copyTo(attachment.ref, path),
  };
}

function chatIdOf({ chatId }: ChatAddress): string {
  const id = chatIdShape.safeParse(chatId);
  if (!id.success) throw new GatewayError('platform_refused', `"${chatId}" is not the id of a web chat.`);
  return id.data;
}

function parsePayload(payload: Payload): WebPayload {
  const parsed = webPayload.safeParse(payload);
  if (!parsed.success) {
    throw new GatewayError(
      'platform_refused',
      `The web chat cannot show this payload: ${parsed.error.message}`,
    );
  }
  return parsed.data;
}

async function bodyOf(payload: WebPayload, files: WebFiles): Promise<WebBody> {
  if (payload.kind !== 'file') return payload;
  const { path, name, caption } = payload;
  return { kind: 'file', file: await files.take(path, name), ...(caption !== undefined && { caption }) };
}

/** A text that grows is sent as its new end alone: a stream of edits costs what it adds, not its square. */
function changeEvent(message: WebMessage, before: WebMessage | undefined): HubEvent {
  const { id, revision, body } = message;
  if (body.kind !== 'text' || before?.body.kind !== 'text')
    return { name: 'message', data: message, revision };
  const from = commonLength(before.body.markdown, body.markdown);
  return { name: 'tail', data: { id, revision, from, text: body.markdown.slice(from) }, revision };
}

function commonLength(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  return length;
}

async function forgetFiles(files: WebFiles, { body }: WebMessage, log: Log): Promise<void> {
  const gone = body.kind === 'file' ? [body.file] : body.kind === 'said' ? body.files : [];
  for (const { id, name } of gone) {
    await files
      .remove(id)
      .catch((error: unknown) => log.warn({ err: error, name }, 'A file could not be removed'));
  }
}
