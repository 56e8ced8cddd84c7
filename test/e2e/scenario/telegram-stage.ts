import { joinEffects } from '../../emulators/effects.ts';
import { effectsOfCall, effectsOfRich, effectsOfText } from '../../emulators/telegram/effects.ts';
import { shownOf } from '../../emulators/telegram/rig.ts';
import { startTelegramEmulator } from '../../emulators/telegram/telegram-emulator.ts';
import type { Place, UserHandle } from '../../emulators/telegram/user.ts';
import type { StoredMessage, TelegramChat } from '../../emulators/telegram/world.ts';
import type { StageMessage, StagePerson, StagePlace, StagePlatform } from './stage.ts';

/** People at Telegram. A shared chat is a forum, its threads are topics. */
export async function openTelegram(): Promise<StagePlatform> {
  const telegram = await startTelegramEmulator();
  let albums = 0;

  function chatOf({ chatId }: StagePlace): TelegramChat {
    const chat = telegram.world.chats.get(Number(chatId));
    if (chat === undefined) throw new Error(`no chat ${chatId}`);
    return chat;
  }
  const at = (place: StagePlace): Place => ({
    in: chatOf(place),
    ...(place.threadId !== undefined && { topic: Number(place.threadId) }),
  });

  function personOf(user: UserHandle): StagePerson {
    const told: string[] = [];
    const dm = { chatId: String(user.chat.id) };
    const press = async (label: string, place: StagePlace) => {
      told.push((await user.presses(label, at(place))).text);
    };
    const addressed = (text: string, place: StagePlace) =>
      chatOf(place).type === 'private' ? text : `@${telegram.world.bot.username} ${text}`;
    return {
      id: String(user.person.id),
      name: user.person.first_name,
      dm,
      says(text, place = dm) {
        const { message } = user.says(addressed(text, place), at(place));
        return { edit: (better) => void user.edits(message, addressed(better, place)) };
      },
      mutters: (text, place) => void user.says(text, at(place)),
      replies(text, place) {
        const replyTo = telegram
          .shown(chatOf(place))
          .findLast(({ threadId }) => threadId === at(place).topic);
        if (replyTo === undefined) throw new Error('nothing to reply to');
        user.says(text, { ...at(place), replyTo });
      },
      uploadsPictures(count, text) {
        const album = `album${++albums}`;
        for (let index = 0; index < count; index += 1)
          user.uploads(
            { kind: 'photo', bytes: Buffer.from(`picture ${index}`) },
            index === 0 ? { album, caption: text } : { album },
          );
      },
      uploads: (name, bytes, text, place = dm) =>
        void user.uploads(
          { kind: 'document', name, bytes, mimeType: 'text/plain' },
          { ...at(place), caption: addressed(text, place) },
        ),
      commands: (line, place = dm) => void user.says(`/${line}`, at(place)),
      presses: (label, place = dm) => press(label, place),
      denies: (_reason, place = dm) => press('Deny', place),
      told: () => told,
    };
  }

  return {
    name: 'telegram',
    env: { TELEGRAM_BOT_TOKEN: telegram.token, TELEGRAM_API_ROOT: telegram.apiRoot },
    tooLarge: { bytes: 25_000_000, limit: '20 MB' },
    messageUnits: 4_096,
    addPerson: (name) => personOf(telegram.addUser(name, { locale: 'en' })),
    addRoom(title) {
      const group = telegram.addGroup(title, { forum: true });
      const chatId = String(group.id);
      return { chatId, openThread: () => ({ chatId, threadId: String(telegram.addTopic(group)) }) };
    },
    shown: (place) =>
      telegram
        .shown(chatOf(place))
        .filter(({ threadId }) => threadId === at(place).topic)
        .map(messageOf),
    faults: {
      rateLimit: (seconds) => telegram.fail('sendRichMessage', { status: 429, retryAfter: seconds }),
      dropConnection: () => telegram.dropSocket('getUpdates'),
      redeliver: () => telegram.delivery.redeliver(1),
    },
    described: telegram.described,
    newMethods: [],
    violations: () => telegram.violations,
    effects: () => joinEffects(telegram.calls.map(effectsOfCall)),
    close: telegram.close,
  };
}

function messageOf(message: StoredMessage): StageMessage {
  const { text = '', rich, parseMode } = message.source;
  const effects =
    rich === undefined
      ? effectsOfText(text, parseMode === 'HTML')
      : effectsOfRich({ markdown: rich, skip_entity_detection: true });
  return { id: String(message.id), ...shownOf(message), markdown: rich !== undefined, ...effects };
}
