import { type Api, InputFile } from 'grammy';
import { GatewayError } from '../../src/errors.ts';
import { toTelegramHtml } from '../format/telegram-html.ts';
import { toTelegramRich } from '../format/telegram-rich.ts';
import type { ChatAddress, DeliverOptions, Payload } from '../platform.ts';
import { describes, isMarkupRefusal, isUnsupported, mapError } from './errors.ts';
import { own } from './grammy-types.ts';
import type { TelegramSettings } from './options.ts';
import { readPayload, type TelegramPayload } from './payload.ts';

/** The General topic of a forum has an id on arrival and none on sending. */
const generalTopic = '1';

export interface Sender {
  deliver(chat: ChatAddress, payload: Payload, options: DeliverOptions): Promise<{ messageId: string }>;
  edit(chat: ChatAddress, messageId: string, payload: Payload, signal: AbortSignal): Promise<void>;
  remove(chat: ChatAddress, messageId: string, signal: AbortSignal): Promise<void>;
  draft(chat: ChatAddress, draftId: number, markdown: string, signal: AbortSignal): Promise<void>;
}

type TextPayload = Extract<TelegramPayload, { kind: 'text' }>;

/** Sends payloads, each in the richest form that this bot's server takes; an answer is never lost to its markup. */
export function createSender(api: Api, settings: TelegramSettings): Sender {
  /** Servers older than a method say so once; then it is not tried again. */
  const unsupported = new Set<string>();
  const preview: { link_preview_options?: { is_disabled: true } } = settings.linkPreviews
    ? {}
    : { link_preview_options: { is_disabled: true } };

  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw mapError(error, settings.token);
    }
  }

  /** Tries forms in order: the next one when the markup was refused or the method is not there. */
  async function firstAccepted<T>(forms: readonly { method: string; send: () => Promise<T> }[]): Promise<T> {
    const usable = forms.filter(({ method }) => !unsupported.has(method));
    for (const [index, { method, send }] of usable.entries()) {
      try {
        return await send();
      } catch (error) {
        const isLast = index === usable.length - 1;
        if (isUnsupported(error) && method !== 'sendMessage') unsupported.add(method);
        else if (!isMarkupRefusal(error)) throw error;
        if (isLast) throw error;
      }
    }
    throw new GatewayError('platform_refused', 'Telegram takes none of the forms of this message.');
  }

  async function deliver(
    chat: ChatAddress,
    stored: Payload,
    options: DeliverOptions,
  ): Promise<{ messageId: string }> {
    const payload = readPayload(stored);
    return guarded(async () => {
      const message = await deliverTo(chat, payload, options).catch((error: unknown) => {
        // The topic or the message that it answers is gone: the text must arrive all the same.
        if (describes(error, /thread not found/i))
          return deliverTo({ ...chat, threadId: generalTopic }, payload, options);
        if (describes(error, /repl(y|ied)/i) && options.replyTo !== undefined) {
          const { replyTo: _gone, ...rest } = options;
          return deliverTo(chat, payload, rest);
        }
        throw error;
      });
      return { messageId: String(message.message_id) };
    });
  }

  function deliverTo(
    chat: ChatAddress,
    payload: TelegramPayload,
    options: DeliverOptions,
  ): Promise<{ message_id: number }> {
    const { signal } = options;
    const common = {
      ...threadOf(chat),
      ...((options.silent || settings.silent) && { disable_notification: true }),
      ...(options.replyTo !== undefined && {
        reply_parameters: { message_id: Number(options.replyTo), allow_sending_without_reply: true },
      }),
    };
    const to = Number(chat.chatId);
    if (payload.kind === 'file') return sendFile(to, payload, common, signal);
    if (payload.kind === 'card') {
      const markup =
        payload.keyboard.length > 0 ? { reply_markup: { inline_keyboard: payload.keyboard } } : {};
      return firstAccepted([
        {
          method: 'sendMessage',
          send: () =>
            api.sendMessage(
              to,
              payload.html,
              { ...common, ...preview, ...markup, parse_mode: 'HTML' },
              own(signal),
            ),
        },
        {
          method: 'sendMessage',
          send: () => api.sendMessage(to, payload.plain, { ...common, ...preview, ...markup }, own(signal)),
        },
      ]);
    }
    const { rich, html, plain } = payload;
    const asRich = {
      method: 'sendRichMessage',
      send: () =>
        api.sendRichMessage(to, { markdown: rich, skip_entity_detection: true }, common, own(signal)),
    };
    return firstAccepted<{ message_id: number }>([
      ...(rich === '' ? [] : [asRich]),
      {
        method: 'sendMessage',
        send: () => api.sendMessage(to, html, { ...common, ...preview, parse_mode: 'HTML' }, own(signal)),
      },
      {
        method: 'sendMessage',
        send: () => api.sendMessage(to, plain, { ...common, ...preview }, own(signal)),
      },
    ]);
  }

  function sendFile(
    to: number,
    { path, name, as, caption }: Extract<TelegramPayload, { kind: 'file' }>,
    common: object,
    signal: AbortSignal,
  ): Promise<{ message_id: number }> {
    const file = new InputFile(path, name);
    const other = { ...common, ...(caption !== '' && { caption }) };
    switch (as) {
      case 'photo':
        return api.sendPhoto(to, file, other, own(signal));
      case 'video':
        return api.sendVideo(to, file, other, own(signal));
      case 'audio':
        return api.sendAudio(to, file, other, own(signal));
      case 'voice':
        return api.sendVoice(to, file, other, own(signal));
      default:
        return api.sendDocument(to, file, other, own(signal));
    }
  }

  async function edit(
    chat: ChatAddress,
    messageId: string,
    stored: Payload,
    signal: AbortSignal,
  ): Promise<void> {
    const payload = readPayload(stored);
    const to = Number(chat.chatId);
    const id = Number(messageId);
    await guarded(async () => {
      try {
        if (payload.kind === 'text') await editText(to, id, payload, signal);
        if (payload.kind === 'card') {
          const markup = { reply_markup: { inline_keyboard: payload.keyboard } };
          await firstAccepted([
            {
              method: 'editMessageText',
              send: () =>
                api.editMessageText(
                  to,
                  id,
                  payload.html,
                  { ...preview, ...markup, parse_mode: 'HTML' },
                  own(signal),
                ),
            },
            {
              method: 'editMessageText',
              send: () => api.editMessageText(to, id, payload.plain, { ...preview, ...markup }, own(signal)),
            },
          ]);
        }
      } catch (error) {
        if (!describes(error, /message is not modified/i)) throw error;
      }
    });
  }

  async function editText(
    to: number,
    id: number,
    { html, plain }: TextPayload,
    signal: AbortSignal,
  ): Promise<void> {
    await firstAccepted([
      {
        method: 'editMessageText',
        send: () => api.editMessageText(to, id, html, { ...preview, parse_mode: 'HTML' }, own(signal)),
      },
      { method: 'editMessageText', send: () => api.editMessageText(to, id, plain, preview, own(signal)) },
    ]);
  }

  return {
    deliver,
    edit,
    async remove(chat, messageId, signal) {
      await guarded(async () => {
        try {
          await api.deleteMessage(Number(chat.chatId), Number(messageId), own(signal));
        } catch (error) {
          if (!describes(error, /message to delete not found|can't be deleted/i)) throw error;
        }
      });
    },
    async draft(chat, draftId, markdown, signal) {
      const to = Number(chat.chatId);
      await guarded(() =>
        firstAccepted([
          {
            method: 'sendRichMessageDraft',
            send: () =>
              api.sendRichMessageDraft(
                to,
                draftId,
                { markdown: toTelegramRich(markdown), skip_entity_detection: true },
                threadOf(chat),
                own(signal),
              ),
          },
          {
            method: 'sendMessageDraft',
            send: () =>
              api.sendMessageDraft(
                to,
                draftId,
                toTelegramHtml(markdown.slice(-3_500)),
                { ...threadOf(chat), parse_mode: 'HTML' },
                own(signal),
              ),
          },
        ]),
      );
    },
  };
}

export function threadOf({ threadId }: ChatAddress): { message_thread_id?: number } {
  return threadId === undefined || threadId === generalTopic ? {} : { message_thread_id: Number(threadId) };
}
