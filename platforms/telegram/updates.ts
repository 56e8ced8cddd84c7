import type { CallbackQuery, Update } from 'grammy/types';
import type { Log } from '../../src/log.ts';
import type { PlatformSink } from '../platform.ts';
import { addressOf } from './address.ts';
import type { TelegramClient } from './client.ts';
import { toGatewayError } from './errors.ts';
import type { Self } from './gate.ts';
import { senderOf, toInboundEvent } from './inbound.ts';
import type { TelegramSettings } from './options.ts';

/** What the bot asks Telegram for, by poll and by webhook. */
export const allowedUpdates = ['message', 'edited_message', 'callback_query'] as const;

/** Resolves once the update is stored, or holds nothing; rejects when it must be handed out again. */
export type UpdateHandler = (update: Update) => Promise<void>;

export interface UpdatesOptions {
  client: TelegramClient;
  settings: TelegramSettings;
  self: Self;
  sink: PlatformSink;
  log: Log;
}

/**
 * Messages of one chat are stored one after another, chats side by side; presses wait for nothing. Each is only stored
 * here, so nothing takes long.
 */
export function createUpdateHandler({ client, settings, self, sink, log }: UpdatesOptions): UpdateHandler {
  async function handlePress(query: CallbackQuery): Promise<void> {
    const { message, data } = query;
    if (message === undefined || data === undefined) return;
    const reply = await sink.press({
      eventId: query.id,
      chat: addressOf(message),
      sender: senderOf(query.from),
      messageId: String(message.message_id),
      buttonId: data,
    });
    // Nobody waits for the toast to arrive.
    client.api
      .answerCallbackQuery({
        callback_query_id: query.id,
        text: reply.text.slice(0, longestToast),
        show_alert: reply.alert,
      })
      .catch((error) =>
        log.debug({ why: toGatewayError(error, 'answerCallbackQuery').message }, 'a press was not answered'),
      );
  }

  const lanes = new Map<string, Promise<void>>();
  function inLane(chatId: string, store: () => Promise<void>): Promise<void> {
    // What failed before is handed out again with all that follows it, so order holds.
    const turn = (lanes.get(chatId) ?? Promise.resolve()).then(store);
    lanes.set(chatId, turn);
    const forget = () => {
      if (lanes.get(chatId) === turn) lanes.delete(chatId);
    };
    turn.then(forget, forget);
    return turn;
  }

  return async (update) => {
    if (update.callback_query !== undefined) return handlePress(update.callback_query);
    const event = toInboundEvent(update, self, settings);
    if (event !== null) await inLane(event.chat.chatId, () => sink.receive(event));
  };
}

/** Bot API: answerCallbackQuery, text. */
const longestToast = 200;
