import type { ChatAddress, Platform, PlatformMemory } from '../../../platforms/platform.ts';
import type { TelegramOptions } from '../../../platforms/telegram/options.ts';
import { createTelegram } from '../../../platforms/telegram/telegram.ts';
import { systemClock } from '../../../src/clock.ts';
import { createLog } from '../../../src/log.ts';
import type { PlatformRig } from '../../contracts/platform-contract.ts';
import { joinEffects } from '../effects.ts';
import { effectsOfCall } from './effects.ts';
import { type EmulatorOptions, startTelegramEmulator, type TelegramEmulator } from './telegram-emulator.ts';
import type { UserHandle } from './user.ts';
import type { StoredMessage, TelegramChat } from './world.ts';

export interface TelegramRig {
  emulator: TelegramEmulator;
  platform: Platform;
  ann: UserHandle;
  /** Ann's private chat, as the gateway names it. */
  dm: ChatAddress;
  logged(): string;
  contract: PlatformRig;
}

/** The adapter beside the emulator, with Ann at the other end. Waits are short. */
export async function telegramRig(
  options: Partial<TelegramOptions> = {},
  emulated: EmulatorOptions = {},
): Promise<TelegramRig> {
  const emulator = await startTelegramEmulator(emulated);
  const lines: string[] = [];
  const log = createLog('trace', (line) => lines.push(line));
  const platform = await createTelegram(
    {
      token: emulator.token,
      apiRoot: emulator.apiRoot,
      reactions: true,
      pollTimeoutSeconds: 5,
      backoff: { firstMs: 10, longestMs: 50 },
      ...options,
    },
    { log, clock: systemClock, memory: memoryInMemory() },
  );
  const ann = emulator.addUser('Ann', { locale: 'en' });
  const group = emulator.addGroup('Builders', { forum: true });
  const topic = emulator.addTopic(group);
  const dm = addressFor(ann.chat);
  const chatFor = ({ chatId }: ChatAddress) => emulator.world.chats.get(Number(chatId)) ?? ann.chat;
  const logged = () => lines.join('');
  const onSends = (plan: (method: string) => void) => {
    for (const method of ['sendMessage', 'sendRichMessage', 'sendDocument']) plan(method);
  };
  const told: string[] = [];
  const contract: PlatformRig = {
    platform,
    chat: dm,
    thread: { ...addressFor(group), kind: 'thread', threadId: String(topic) },
    secrets: [emulator.token],
    logged,
    says: (text) => void ann.says(text),
    uploads: (name, bytes) => void ann.uploads({ kind: 'document', name, bytes, mimeType: 'text/plain' }),
    async presses(label) {
      const { text } = await ann.presses(label);
      told.push(text);
      return text;
    },
    told: () => told,
    redeliver: () => emulator.delivery.redeliver(1),
    shown: (chat) => emulator.shown(chatFor(chat)).map(shownOf),
    faults: {
      rateLimit: (seconds) =>
        onSends((method) => emulator.fail(method, { status: 429, retryAfter: seconds })),
      rateLimitEdit: (seconds) => emulator.fail('editMessageText', { status: 429, retryAfter: seconds }),
      refuseMarkup() {
        const description = "Bad Request: can't parse entities: Unsupported start tag";
        for (const method of ['sendRichMessage', 'sendMessage'])
          emulator.fail(method, { status: 400, description });
      },
      chatGone: ann.blocks,
      dropAfterSend: () => onSends((method) => emulator.dropSocket(method, 'after')),
      serverError: () => onSends((method) => emulator.fail(method, { status: 502 })),
    },
    requests: () => emulator.calls.filter(({ method }) => /^(?:send|edit|set)/.test(method)).length,
    effects: () => joinEffects(emulator.calls.map(effectsOfCall)),
    violations: () => emulator.violations,
    close: emulator.close,
  };
  return { emulator, platform, ann, dm, logged, contract };
}

export function addressFor(chat: TelegramChat): ChatAddress {
  return { platform: 'telegram', kind: chat.type === 'private' ? 'dm' : 'group', chatId: String(chat.id) };
}

/** A message as a person sees it. */
export function shownOf({ text, keyboard, threadId, file }: StoredMessage) {
  return {
    text,
    buttons: keyboard.flat().map((button) => button.text),
    ...(threadId !== undefined && { threadId: String(threadId) }),
    ...(file !== undefined && { file: { name: file.name, bytes: file.bytes } }),
  };
}

function memoryInMemory(): PlatformMemory {
  const values = new Map<string, unknown>();
  return {
    get: async (key) => values.get(key),
    set: async (key, value) => void values.set(key, value),
    delete: async (key) => void values.delete(key),
    list: async (prefix) =>
      [...values].filter(([key]) => key.startsWith(prefix)).map(([key, value]) => ({ key, value })),
  };
}
