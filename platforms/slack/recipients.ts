import type { ChatAddress, PlatformSink } from '../platform.ts';
import { chatKey } from './address.ts';

const keptChats = 1000;

export interface Recipients {
  /** Who last spoke to the bot in this chat. */
  of(chat: ChatAddress): string | undefined;
  /** A sink that notes who speaks on the way. */
  watching(sink: PlatformSink): PlatformSink;
}

/** Slack wants to know for whom an answer is streamed in a channel. */
export function createRecipients(): Recipients {
  const last = new Map<string, string>();
  return {
    of: (chat) => last.get(chatKey(chat)),
    watching: (sink) => ({
      press: (press) => sink.press(press),
      report: (state) => sink.report(state),
      alive: () => sink.alive(),
      async receive(event) {
        await sink.receive(event);
        if (!event.addressed) return;
        const key = chatKey(event.chat);
        last.delete(key);
        last.set(key, event.sender.id);
        const oldest = last.keys().next().value;
        if (last.size > keptChats && oldest !== undefined) last.delete(oldest);
      },
    }),
  };
}
