import { GatewayError } from '../../src/errors.ts';
import { splitMarkdown } from '../format/split.ts';
import { toTelegramHtml } from '../format/telegram-html.ts';
import type { ChatAddress } from '../platform.ts';
import { toGatewayError } from './errors.ts';
import { textLimit } from './limits.ts';
import { mayTryOtherwise, richMessage, type SendContext } from './send.ts';

/** Bot API: rich messages hold 32768 characters. A preview shows the end that is being written. */
const draftUnits = 30_000;

/** Shows an answer that is being written as a preview, for 30 seconds, in a private chat. */
export async function showDraft(
  { client, support }: SendContext,
  chat: ChatAddress,
  draftId: number,
  markdown: string,
  signal: AbortSignal,
): Promise<void> {
  const draft = {
    chat_id: Number(chat.chatId),
    draft_id: draftId,
    ...(chat.threadId !== undefined && { message_thread_id: Number(chat.threadId) }),
  };
  if (support.has('sendRichMessageDraft')) {
    try {
      const rich_message = richMessage(markdown.slice(-draftUnits).toWellFormed());
      await client.api.sendRichMessageDraft({ ...draft, rich_message }, signal);
      return;
    } catch (error) {
      if (!support.learn('sendRichMessageDraft', error) && !mayTryOtherwise(error))
        throw toGatewayError(error, 'sendRichMessageDraft');
    }
  }
  if (!support.has('sendMessageDraft'))
    throw new GatewayError('platform_refused', 'This Bot API server knows no drafts.');
  try {
    const text = toTelegramHtml(
      splitMarkdown(markdown, { limit: textLimit, measure: htmlUnits }).at(-1) ?? '',
    );
    await client.api.sendMessageDraft({ ...draft, text, parse_mode: 'HTML' }, signal);
  } catch (error) {
    support.learn('sendMessageDraft', error);
    throw toGatewayError(error, 'sendMessageDraft');
  }
}

function htmlUnits(markdown: string): number {
  return toTelegramHtml(markdown).length;
}
