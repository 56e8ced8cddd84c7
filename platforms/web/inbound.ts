import { z } from 'zod';
import type { Clock } from '../../src/clock.ts';
import type { Attachment, InboundEvent, PlatformSink, PressReply, Sender } from '../platform.ts';
import type { Chats } from './chats.ts';
import { mediaKind, type WebFiles } from './files.ts';
import { chatIdShape, type StoredFile } from './message.ts';

/** Made by the page, once a message or press: a repeated request is the same event. */
const requestId = z.string().regex(/^[A-Za-z0-9-]{8,64}$/, 'a request id has 8 to 64 letters, digits and -');

export const saidRequest = z.object({
  id: requestId,
  chatId: chatIdShape,
  text: z.string().max(200_000),
  files: z.array(z.object({ id: z.string(), name: z.string() })).max(20),
  locale: z.string().max(35).exactOptional(),
});

export const pressRequest = z.object({
  id: requestId,
  chatId: chatIdShape,
  messageId: z.string(),
  buttonId: z.string().max(64),
  input: z.string().max(4_000).exactOptional(),
});

export interface InboundOptions {
  chats: Chats;
  files: WebFiles;
  clock: Clock;
  personName: string;
}

/** Takes what the person at the page does to the gateway. */
export interface WebInbound {
  say(request: z.infer<typeof saidRequest>, sink: PlatformSink): Promise<void>;
  press(request: z.infer<typeof pressRequest>, sink: PlatformSink): Promise<PressReply>;
}

export function createInbound({ chats, files, clock, personName }: InboundOptions): WebInbound {
  const sender: Sender = { id: 'web', name: personName, isBot: false };
  const address = (chatId: string) => ({ platform: 'web', kind: 'dm', chatId }) as const;

  return {
    /**
     * Shows the message, then hands it on; when the gateway cannot store it, it is taken back and the rejection
     * reaches the page, which keeps it and tries again under the same id.
     */
    async say(request, sink) {
      const log = await chats.log(request.chatId);
      const attached = await describeAll(files, request.files);
      const message = await log.append({
        key: `said:${request.id}`,
        body: { kind: 'said', text: request.text, files: attached },
      });
      await chats.touch(request.chatId, request.text || (attached[0]?.name ?? ''));
      const event: InboundEvent = {
        eventId: `said:${request.id}`,
        kind: 'message',
        chat: address(request.chatId),
        sender: { ...sender, ...(request.locale !== undefined && { locale: request.locale }) },
        messageId: message.id,
        text: request.text,
        addressed: true,
        attachments: attached.map(toAttachment),
        sentAt: clock.now(),
      };
      try {
        await sink.receive(event);
      } catch (error) {
        await log.edit(message.id, { kind: 'removed' });
        throw error;
      }
      if (message.body.kind === 'removed') {
        await log.edit(message.id, { kind: 'said', text: request.text, files: attached });
      }
    },
    press: ({ id, chatId, messageId, buttonId, input }, sink) =>
      sink.press({
        eventId: `press:${id}`,
        chat: address(chatId),
        sender,
        messageId,
        buttonId,
        ...(input !== undefined && { input }),
      }),
  };
}

async function describeAll(
  files: WebFiles,
  named: readonly { id: string; name: string }[],
): Promise<StoredFile[]> {
  const described = await Promise.all(named.map(({ id, name }) => files.describe(id, name)));
  return described.filter((file) => file !== null);
}

function toAttachment(file: StoredFile): Attachment {
  const { id, name, mimeType, bytes } = file;
  return { kind: mediaKind(file), ref: id, name, mimeType, bytes };
}
