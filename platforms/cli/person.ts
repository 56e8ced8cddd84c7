import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/clock.ts';
import type { ChatAddress, PlatformSink, PressReply, Sender } from '../platform.ts';

/** The one person at the terminal, as the gateway hears of what he does. */
export interface Person {
  say(text: string, sink: PlatformSink): Promise<void>;
  press(messageId: string, buttonId: string, sink: PlatformSink): Promise<PressReply>;
}

export function createPerson(chat: ChatAddress, name: string, clock: Clock): Person {
  const sender: Sender = { id: 'cli', name, isBot: false };
  return {
    say: (text, sink) =>
      sink.receive({
        eventId: randomUUID(),
        kind: 'message',
        chat,
        sender,
        messageId: randomUUID(),
        text,
        addressed: true,
        attachments: [],
        sentAt: clock.now(),
      }),
    press: (messageId, buttonId, sink) =>
      sink.press({ eventId: randomUUID(), chat, sender, messageId, buttonId }),
  };
}
