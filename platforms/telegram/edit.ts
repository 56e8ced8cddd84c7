import { GatewayError } from '../../src/errors.ts';
import { breakMentions, toTelegramHtml } from '../format/telegram-html.ts';
import type { ChatAddress } from '../platform.ts';
import { targetOf } from './address.ts';
import { refusedWith, toGatewayError } from './errors.ts';
import type { TelegramPayload } from './payload.ts';
import { mayTryOtherwise, preview, richMessage, type SendContext } from './send.ts';

/** Replaces a message. One that already says so is a success. */
export async function edit(
  context: SendContext,
  chat: ChatAddress,
  messageId: string,
  payload: TelegramPayload,
  signal: AbortSignal,
): Promise<void> {
  const message = { chat_id: targetOf(chat).chat_id, message_id: Number(messageId) };
  const forms = formsOf(context, payload);
  for (const [index, form] of forms.entries()) {
    try {
      await context.client.api.editMessageText({ ...message, ...form }, signal);
      return;
    } catch (error) {
      if (refusedWith(error, /message is not modified/i)) return;
      if (!mayTryOtherwise(error) || index === forms.length - 1)
        throw toGatewayError(error, 'editMessageText');
    }
  }
}

type EditForm = Parameters<SendContext['client']['api']['editMessageText']>[0];

/** The forms in which a payload may be shown, best first. */
function formsOf({ settings, support }: SendContext, payload: TelegramPayload): EditForm[] {
  switch (payload.kind) {
    case 'text': {
      const html: EditForm = {
        text: toTelegramHtml(payload.markdown),
        parse_mode: 'HTML',
        ...preview(settings.linkPreviews),
      };
      const plain: EditForm = { text: breakMentions(payload.markdown), ...preview(settings.linkPreviews) };
      return support.has('sendRichMessage')
        ? [{ rich_message: richMessage(payload.markdown) }, html, plain]
        : [html, plain];
    }
    case 'plain':
      return [{ text: breakMentions(payload.text), ...preview(false) }];
    case 'card':
      return [
        {
          text: payload.html,
          parse_mode: 'HTML',
          ...preview(false),
          ...(payload.keyboard.length > 0 && { reply_markup: { inline_keyboard: payload.keyboard } }),
        },
      ];
    case 'file':
      throw new GatewayError('usage', 'A message cannot be edited into a file.');
  }
}
