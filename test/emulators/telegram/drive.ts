import type { Drivable } from '../drive.ts';
import type { TelegramEmulator } from './telegram-emulator.ts';
import { type Fields, isFields } from './wire.ts';

/** People in private chats. */
export function drivable(emulator: TelegramEmulator): Drivable {
  return {
    addPerson(name) {
      const { chat, says } = emulator.addUser(name);
      return { chat: String(chat.id), says: (text) => void says(text) };
    },
    watch: ({ handedOut, showed }) =>
      emulator.watch({
        handedOut(updates, at) {
          for (const { message } of updates) {
            if (isFields(message) && isFields(message['chat'])) handedOut(String(message['chat']['id']), at);
          }
        },
        called: (_method, fields, at) => showed(String(fields['chat_id']), textOf(fields), at),
      }),
  };
}

/** What a call would show. */
function textOf({ text, rich_message: rich }: Fields): string {
  if (isFields(rich)) return String(rich['markdown'] ?? '');
  return String(text ?? '');
}
