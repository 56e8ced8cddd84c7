import type { ApiRequest } from './request.ts';
import { readKeyboard, readRich, readText } from './rules.ts';
import { ApiRefusal, badRequest, type Fields, isFields } from './wire.ts';
import {
  addMessage,
  findMessage,
  ownMessage,
  type StoredMessage,
  type TelegramChat,
  toWire,
  type World,
} from './world.ts';

/** What a method needs to know besides its own fields. */
export interface MethodContext {
  world: World;
  setWebhook(webhook: { url: string; secret: string } | null): void;
  onPressAnswered(queryId: string, answer: { text: string; alert: boolean }): void;
  onDraft(chat: TelegramChat, text: string): void;
  onAction(chat: TelegramChat, threadId: number | undefined): void;
}

type Method = (request: ApiRequest, context: MethodContext) => unknown;

const textLimit = 4096;
const captionLimit = 1024;
const uploadLimit = 50 * 2 ** 20;
const downloadLimit = 20 * 2 ** 20;

/** The chat of a call, if the bot may write there. A topic must exist; "General" has no number. */
function chatOf({ world }: MethodContext, fields: Fields): { chat: TelegramChat; threadId?: number } {
  const chat = world.chats.get(Number(fields['chat_id']));
  if (chat === undefined) throw badRequest('chat not found');
  const movedTo = world.moved.get(chat.id);
  if (movedTo !== undefined) {
    throw new ApiRefusal(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
      migrate_to_chat_id: movedTo,
    });
  }
  if (world.closedChats.has(chat.id)) {
    throw new ApiRefusal(
      403,
      `Forbidden: bot was ${chat.type === 'private' ? 'blocked by the user' : 'kicked from the group chat'}`,
    );
  }
  const threadId = fields['message_thread_id'];
  if (threadId === undefined) return { chat };
  if (typeof threadId !== 'number' || world.topics.get(chat.id)?.has(threadId) !== true) {
    throw badRequest('message thread not found');
  }
  return { chat, threadId };
}

function replyOf({ world }: MethodContext, chat: TelegramChat, fields: Fields): { replyTo?: number } {
  const reply = fields['reply_parameters'];
  if (!isFields(reply)) return {};
  const id = Number(reply['message_id']);
  if (findMessage(world, chat.id, id) !== undefined) return { replyTo: id };
  if (reply['allow_sending_without_reply'] === true) return {};
  throw badRequest('message to be replied not found');
}

type Content = Pick<StoredMessage, 'text' | 'source'> & Pick<Partial<StoredMessage>, 'file'>;

function post(context: MethodContext, fields: Fields, content: Content): Record<string, unknown> {
  const { world } = context;
  const { chat, threadId } = chatOf(context, fields);
  const message = addMessage(world, {
    ...content,
    id: world.nextId(chat),
    chat,
    from: world.bot,
    ...(threadId !== undefined && { threadId }),
    keyboard: readKeyboard(fields),
    ...replyOf(context, chat, fields),
    silent: fields['disable_notification'] === true,
    date: Math.floor(Date.now() / 1000),
    edits: 0,
  });
  return toWire(world, message);
}

function textContent(fields: Fields): Content {
  const text = readText(fields['text'], fields['parse_mode'], textLimit);
  return { text, source: sourceOf(fields['text'], fields['parse_mode']) };
}

function sourceOf(text: unknown, parseMode: unknown): StoredMessage['source'] {
  return { text: String(text), ...(parseMode !== undefined && { parseMode: String(parseMode) }) };
}

function richContent(fields: Fields): Content {
  const rich = readRich(fields['rich_message']);
  return { text: rich, source: { rich } };
}

const upload =
  (field: string): Method =>
  ({ fields, files }, context) => {
    const name = String(fields[field]).replace(/^attach:\/\//, '');
    const file = files.get(name) ?? files.get(field);
    if (file === undefined) throw badRequest(`there is no ${field} in the request`);
    if (file.bytes.length === 0) throw badRequest('file must be non-empty');
    if (file.bytes.length > uploadLimit) throw new ApiRefusal(413, 'Request Entity Too Large');
    if (field === 'photo' && !isPicture(file.bytes)) throw badRequest('IMAGE_PROCESS_FAILED');
    const { caption, parse_mode: parseMode } = fields;
    const text = caption === undefined ? '' : readText(caption, parseMode, captionLimit, 'message caption');
    return post(context, fields, {
      text,
      source: sourceOf(caption ?? '', parseMode),
      file: { ...file, method: field },
    });
  };

function isPicture(bytes: Buffer): boolean {
  return (
    bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff])) ||
    bytes.subarray(1, 4).toString('latin1') === 'PNG'
  );
}

const edit: Method = (request, context) => {
  const { fields } = request;
  return change(request, context, (message) => {
    if (message.file !== undefined) throw badRequest('there is no text in the message to edit');
    return fields['rich_message'] === undefined ? textContent(fields) : richContent(fields);
  });
};

const editCaption: Method = (request, context) =>
  change(request, context, (message) => {
    const { caption = '', parse_mode: parseMode } = request.fields;
    if (message.file === undefined) throw badRequest('there is no caption in the message to edit');
    const text = caption === '' ? '' : readText(caption, parseMode, captionLimit, 'message caption');
    return { text, source: sourceOf(caption, caption === '' ? undefined : parseMode) };
  });

function change(
  { fields }: ApiRequest,
  context: MethodContext,
  contentFor: (message: StoredMessage) => Content,
): Record<string, unknown> {
  const { chat } = chatOf(context, { chat_id: fields['chat_id'] });
  const message = ownMessage(context.world, chat.id, fields['message_id'], 'edit');
  const content = contentFor(message);
  const keyboard = readKeyboard(fields);
  const same =
    JSON.stringify([content.source, keyboard]) === JSON.stringify([message.source, message.keyboard]);
  if (same) {
    throw badRequest(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    );
  }
  Object.assign(message, content, { keyboard, edits: message.edits + 1 });
  return toWire(context.world, message);
}

const draft =
  (read: (fields: Fields) => Content): Method =>
  ({ fields }, context) => {
    const { chat } = chatOf(context, fields);
    if (chat.type !== 'private') throw badRequest('drafts can be sent to private chats only');
    if (fields['draft_id'] === 0) throw badRequest('draft_id must be non-zero');
    context.onDraft(chat, read(fields).text);
    return true;
  };

/** Methods by name; any other is answered 404. */
export const methods: Readonly<Record<string, Method>> = {
  getMe: (_request, { world }) => ({
    ...world.bot,
    can_join_groups: true,
    can_read_all_group_messages: false,
  }),
  setWebhook({ fields }, { setWebhook }) {
    setWebhook({ url: String(fields['url']), secret: String(fields['secret_token'] ?? '') });
    return true;
  },
  deleteWebhook(_request, { setWebhook }) {
    setWebhook(null);
    return true;
  },
  setMyCommands({ fields }) {
    const { commands } = fields;
    const isCommand = (one: unknown) =>
      isFields(one) &&
      /^[a-z0-9_]{1,32}$/.test(String(one['command'])) &&
      /^[\s\S]{1,256}$/.test(String(one['description']));
    if (!Array.isArray(commands) || commands.length > 100 || !commands.every(isCommand))
      throw badRequest('BOT_COMMAND_INVALID');
    return true;
  },
  sendMessage: ({ fields }, context) => post(context, fields, textContent(fields)),
  sendRichMessage: ({ fields }, context) => post(context, fields, richContent(fields)),
  sendMessageDraft: draft(textContent),
  sendRichMessageDraft: draft(richContent),
  editMessageText: edit,
  editMessageCaption: editCaption,
  sendPhoto: upload('photo'),
  sendDocument: upload('document'),
  sendVideo: upload('video'),
  sendAudio: upload('audio'),
  sendVoice: upload('voice'),
  sendSticker: upload('sticker'),
  deleteMessage({ fields }, context) {
    const { chat } = chatOf(context, { chat_id: fields['chat_id'] });
    const message = ownMessage(context.world, chat.id, fields['message_id'], 'delete');
    const list = context.world.messages.get(chat.id) ?? [];
    list.splice(list.indexOf(message), 1);
    return true;
  },
  sendChatAction({ fields }, context) {
    const { chat, threadId } = chatOf(context, fields);
    context.onAction(chat, threadId);
    return true;
  },
  answerCallbackQuery({ fields }, { onPressAnswered }) {
    const text = String(fields['text'] ?? '');
    if (text.length > 200) throw badRequest('MESSAGE_TOO_LONG');
    onPressAnswered(String(fields['callback_query_id']), { text, alert: fields['show_alert'] === true });
    return true;
  },
  setMessageReaction({ fields }, context) {
    const { chat } = chatOf(context, { chat_id: fields['chat_id'] });
    const message = findMessage(context.world, chat.id, Number(fields['message_id']));
    if (message === undefined) throw badRequest('message to react not found');
    const [first] = Array.isArray(fields['reaction']) ? fields['reaction'] : [];
    if (first === undefined) delete message.reaction;
    else message.reaction = String(first.emoji);
    return true;
  },
  getFile({ fields }, { world }) {
    const id = String(fields['file_id']);
    const file = world.files.get(id);
    if (file === undefined) throw badRequest('invalid file_id');
    if (file.bytes.length > downloadLimit) throw badRequest('file is too big');
    return {
      file_id: id,
      file_unique_id: `u${id}`,
      file_size: file.bytes.length,
      file_path: `documents/${id}`,
    };
  },
};
