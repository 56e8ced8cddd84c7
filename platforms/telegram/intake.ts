import type { Api } from 'grammy';
import type { Update, UserFromGetMe } from 'grammy/types';
import { errorMessage } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { PlatformSink } from '../platform.ts';
import type { Gate } from './gate.ts';
import { type Incoming, readUpdate } from './inbound.ts';

/** Stores updates: in order within a chat, chats side by side. Presses wait behind nothing. */
export interface Intake {
  /** Resolves with how many updates, from the first on, are stored; the rest must come again. */
  take(updates: readonly Update[]): Promise<number>;
}

export interface IntakeOptions {
  api: Api;
  sink: PlatformSink;
  gate: Gate;
  me: UserFromGetMe;
  log: Log;
}

export function createIntake({ api, sink, gate, me, log }: IntakeOptions): Intake {
  async function handle(incoming: Incoming): Promise<void> {
    if (incoming.kind === 'event') return sink.receive(incoming.event);
    const { text, alert } = await sink.press(incoming.press);
    // The toast is shown to the presser alone; that the press counts does not hang on it.
    api
      .answerCallbackQuery(incoming.queryId, { text: text.slice(0, 200), show_alert: alert })
      .catch((error: unknown) => log.debug({ error: errorMessage(error) }, 'a press could not be answered'));
  }

  return {
    async take(updates) {
      const lanes = new Map<string, Promise<void>>();
      const done = updates.map((update) => {
        const incoming = readUpdate(update, gate, me);
        if (!incoming) return Promise.resolve();
        if (incoming.kind === 'press') return handle(incoming);
        const lane = incoming.event.chat.chatId;
        const turn = (lanes.get(lane) ?? Promise.resolve()).then(() => handle(incoming));
        lanes.set(lane, turn);
        return turn;
      });
      const outcomes = await Promise.allSettled(done);
      const failed = outcomes.findIndex((outcome) => outcome.status === 'rejected');
      const failure = outcomes[failed];
      if (failure?.status === 'rejected')
        log.error(
          { error: errorMessage(failure.reason) },
          'an update could not be stored; Telegram keeps it',
        );
      return failed === -1 ? updates.length : failed;
    },
  };
}
