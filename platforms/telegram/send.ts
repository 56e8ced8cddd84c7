import type { Log } from '../../src/log.ts';
import { breakMentions, toTelegramHtml } from '../format/telegram-html.ts';
import { toTelegramRich } from '../format/telegram-rich.ts';
import type { ChatAddress, DeliverOptions } from '../platform.ts';
import { type Target, targetOf } from './address.ts';
import type { TelegramClient } from './client.ts';
import { isContentRefusal, migratedTo, refusedWith, toGatewayError } from './errors.ts';
import type { TelegramSettings } from './options.ts';
import type { TelegramPayload } from './payload.ts';
import type { Support } from './support.ts';
import { sendFile } from './upload.ts';

export interface SendContext {
  client: TelegramClient;
  settings: TelegramSettings;
  support: Support;
  /** New ids of groups that became supergroups, by their old ones. */
  moved: Map<number | string, number>;
  log: Log;
}

/** Fields that every kind of message takes. */
export type SendFields = Target & {
  disable_notification?: true;
  reply_parameters?: { message_id: number; allow_sending_without_reply: true };
};

type Sent = { message_id: number };

/** Sends one payload as one message. An answer is never lost to its markup: rich, else HTML, else plain. */
export async function send(
  context: SendContext,
  chat: ChatAddress,
  payload: TelegramPayload,
  options: DeliverOptions,
): Promise<{ messageId: string }> {
  let fields = fieldsFor(context, chat, payload, options);
  for (;;) {
    try {
      return { messageId: String((await sendOnce(context, fields, payload, options.signal)).message_id) };
    } catch (error) {
      const elsewhere = redirect(context, fields, error);
      if (elsewhere === null) throw toGatewayError(error, 'send');
      fields = elsewhere;
    }
  }
}

/** Where a message goes whose topic is gone or whose group got another id; null when neither is so. */
function redirect({ moved, log }: SendContext, fields: SendFields, error: unknown): SendFields | null {
  const { chat_id, message_thread_id, ...rest } = fields;
  if (message_thread_id !== undefined && refusedWith(error, /message thread not found|TOPIC_DELETED/i)) {
    log.warn({ chat_id, message_thread_id }, 'telegram: the topic is gone; sending to the chat');
    return { chat_id, ...rest };
  }
  const newId = migratedTo(error);
  if (newId === undefined || moved.has(chat_id)) return null;
  moved.set(chat_id, newId);
  log.info({ from: chat_id, to: newId }, 'telegram: the group became a supergroup');
  return { ...fields, chat_id: newId };
}

function fieldsFor(
  { settings, moved }: SendContext,
  chat: ChatAddress,
  payload: TelegramPayload,
  options: DeliverOptions,
): SendFields {
  const quiet = options.silent === true || (settings.silent && payload.kind !== 'card');
  const target = targetOf(chat);
  return {
    ...target,
    chat_id: moved.get(target.chat_id) ?? target.chat_id,
    ...(quiet && { disable_notification: true as const }),
    ...(options.replyTo !== undefined && {
      reply_parameters: { message_id: Number(options.replyTo), allow_sending_without_reply: true as const },
    }),
  };
}

function sendOnce(
  context: SendContext,
  fields: SendFields,
  payload: TelegramPayload,
  signal: AbortSignal,
): Promise<Sent> {
  switch (payload.kind) {
    case 'text':
      return sendText(context, fields, payload.markdown, signal);
    case 'plain':
      return sendPlain(context, fields, payload.text, signal, false);
    case 'card':
      return context.client.api.sendMessage(
        {
          ...fields,
          text: payload.html,
          parse_mode: 'HTML',
          link_preview_options: { is_disabled: true },
          ...(payload.keyboard.length > 0 && { reply_markup: { inline_keyboard: payload.keyboard } }),
        },
        signal,
      );
    case 'file':
      return sendFile(context.client, fields, payload, signal);
  }
}

async function sendText(
  context: SendContext,
  fields: SendFields,
  markdown: string,
  signal: AbortSignal,
): Promise<Sent> {
  const { client, settings, support, log } = context;
  if (support.has('sendRichMessage')) {
    try {
      return await client.api.sendRichMessage({ ...fields, rich_message: richMessage(markdown) }, signal);
    } catch (error) {
      if (!support.learn('sendRichMessage', error) && !mayTryOtherwise(error)) throw error;
      log.info({ why: toGatewayError(error, 'sendRichMessage').message }, 'telegram: sending HTML instead');
    }
  }
  try {
    const text = toTelegramHtml(markdown);
    return await client.api.sendMessage(
      { ...fields, text, parse_mode: 'HTML', ...preview(settings.linkPreviews) },
      signal,
    );
  } catch (error) {
    if (!mayTryOtherwise(error)) throw error;
    log.warn({ why: toGatewayError(error, 'sendMessage').message }, 'telegram: sending plain text instead');
    return sendPlain(context, fields, markdown, signal, settings.linkPreviews);
  }
}

function sendPlain(
  { client }: SendContext,
  fields: SendFields,
  text: string,
  signal: AbortSignal,
  linkPreviews: boolean,
): Promise<Sent> {
  return client.api.sendMessage({ ...fields, text: breakMentions(text), ...preview(linkPreviews) }, signal);
}

/** Another form of the text would be refused for the same reason. */
const notForItsForm =
  /thread not found|TOPIC_|upgraded to a supergroup|message is not modified|message to (?:edit|reply)|can't be edited/i;

export function mayTryOtherwise(error: unknown): boolean {
  return isContentRefusal(error) && !refusedWith(error, notForItsForm);
}

/** Telegram must find no mention of its own in a model's text; links stand in the Markdown already. */
export function richMessage(markdown: string): { markdown: string; skip_entity_detection: true } {
  return { markdown: toTelegramRich(markdown), skip_entity_detection: true };
}

export function preview(linkPreviews: boolean): { link_preview_options?: { is_disabled: true } } {
  return linkPreviews ? {} : { link_preview_options: { is_disabled: true } };
}
