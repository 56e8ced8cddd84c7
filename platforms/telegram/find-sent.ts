import { GatewayError } from '../../src/errors.ts';
import type { ChatAddress, OlderMessage } from '../platform.ts';
import { targetOf } from './address.ts';
import { edit } from './edit.ts';
import { refusedWith, toGatewayError } from './errors.ts';
import type { TelegramPayload } from './payload.ts';
import type { SendContext } from './send.ts';

/** Others' messages take ids too: so many after the newest known one are tried. */
const tries = 16;
/** Supergroups and channels. Bot API: their ids begin with -100. */
const ownCounterBelow = -1_000_000_000_000;

/**
 * Finds a message whose sending was never confirmed, by editing what comes after the newest message known before it
 * into what it must say already. Telegram answers "not modified" for the message itself, and refuses for one that is
 * not there, is in another chat or is somebody else's (docs/decisions/006-telegram-looking-for-a-send.md).
 */
export async function findSent(
  context: SendContext,
  chat: ChatAddress,
  payload: TelegramPayload,
  older: readonly OlderMessage[],
  signal: AbortSignal,
): Promise<string | null> {
  const chatId = chatIdOf(context, chat);
  const counter = counterOf(chatId);
  const ids = older
    .filter((message) => counterOf(chatIdOf(context, message.chat)) === counter)
    .map(({ messageId }) => Number(messageId))
    .filter(Number.isSafeInteger);
  if (ids.length === 0)
    throw new GatewayError('send_unknown', 'Telegram: nothing is known from before the message.');
  const newest = ids.reduce((high, id) => Math.max(high, id));
  const here = { ...chat, chatId: String(chatId) };
  for (let id = newest + 1; id <= newest + tries; id += 1) {
    if (await saysSo(context, here, id, payload, signal)) return String(id);
  }
  return null;
}

function chatIdOf({ moved }: SendContext, chat: ChatAddress): number | string {
  const { chat_id: id } = targetOf(chat);
  return moved.get(id) ?? id;
}

/** Private chats and basic groups share one counter of the bot; every supergroup and channel has its own. */
function counterOf(chatId: number | string): string {
  return typeof chatId === 'number' && chatId > ownCounterBelow ? 'bot' : String(chatId);
}

async function saysSo(
  context: SendContext,
  chat: ChatAddress,
  id: number,
  payload: TelegramPayload,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    if (payload.kind === 'file') await editCaption(context, chat, id, payload, signal);
    else await edit(context, chat, String(id), payload, signal);
    return true;
  } catch (error) {
    const failure = toGatewayError(error, 'editMessageText');
    if (failure.code === 'platform_refused') return false;
    throw failure;
  }
}

async function editCaption(
  { client }: SendContext,
  chat: ChatAddress,
  id: number,
  { caption = '' }: Extract<TelegramPayload, { kind: 'file' }>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.api.editMessageCaption(
      { chat_id: targetOf(chat).chat_id, message_id: id, caption, parse_mode: 'HTML' },
      signal,
    );
  } catch (error) {
    if (!refusedWith(error, /message is not modified/i)) throw error;
  }
}
