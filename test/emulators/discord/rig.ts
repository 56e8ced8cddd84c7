import { createDiscord } from '../../../platforms/discord/discord.ts';
import type { ChatAddress } from '../../../platforms/platform.ts';
import { systemClock } from '../../../src/clock.ts';
import { createLog } from '../../../src/log.ts';
import type { PlatformRig, ShownMessage } from '../../contracts/platform-contract.ts';
import { createPlatformMemory } from '../../support/platform-memory.ts';
import { joinEffects } from '../effects.ts';
import { startDiscordEmulator } from './discord-emulator.ts';
import { effectsOfCall } from './effects.ts';
import { type DiscordMessage, messagesOf } from './world.ts';

/** The adapter beside the emulator, with Ann at the other end of a direct message. */
export async function discordRig(): Promise<PlatformRig> {
  const emulator = await startDiscordEmulator();
  const lines: string[] = [];
  const log = createLog('trace', (line) => lines.push(line));
  const deps = { log, clock: systemClock, memory: createPlatformMemory() };
  const platform = await createDiscord({ token: emulator.token, apiRoot: emulator.apiRoot }, deps);
  const ann = emulator.addUser('Ann');
  const parent = emulator.addChannel('general');
  const thread = ann.startsThread(parent, 'work');
  const send = 'POST /channels/{channel_id}/messages';

  async function presses(label: string): Promise<string> {
    const message = ann.botShows().findLast(({ components }) => JSON.stringify(components).includes(label));
    if (message === undefined) throw new Error(`nothing to press shows ${label}`);
    const before = ann.privately().length;
    const interaction = ann.presses(label, message);
    await emulator.until('an answer to the press', () => interaction.answer);
    return ann.privately()[before] ?? '';
  }

  const chat: ChatAddress = { platform: 'discord', kind: 'dm', chatId: ann.dm().id };
  return {
    platform,
    chat,
    thread: { platform: 'discord', kind: 'thread', chatId: parent.id, threadId: thread.id },
    secrets: [emulator.token],
    logged: () => lines.join(''),
    says: (text) => void ann.says(text),
    uploads: (name, bytes) => void ann.uploads(name, bytes, 'text/plain'),
    presses,
    told: ann.privately,
    redeliver: () => emulator.redeliver(),
    shown: ({ chatId, threadId }) =>
      messagesOf(emulator.world, threadId ?? chatId)
        .filter(({ authorId }) => authorId === emulator.world.bot.id)
        .map((message) => shownOf(message, threadId)),
    faults: {
      rateLimit: (seconds) => emulator.fail(send, { status: 429, retryAfter: seconds }),
      rateLimitEdit: (retryAfter) =>
        emulator.fail('PATCH /channels/{channel_id}/messages/{message_id}', { status: 429, retryAfter }),
      // Discord shows what it cannot read as it is.
      refuseMarkup: () => undefined,
      chatGone: () => emulator.closeDmsOf(ann),
      dropAfterSend: () => emulator.fail(send, { hangUp: 'after' }),
      serverError: () => emulator.fail(send, { status: 502 }),
    },
    requests: () => emulator.received.filter((call) => !call.startsWith('GET')).length,
    effects: () => joinEffects(emulator.calls.map((call) => effectsOfCall(call, emulator.world))),
    violations: emulator.violations,
    close: emulator.close,
  };
}

/** A message as a person sees it. */
export function shownOf(
  { content, embeds, components, attachments }: DiscordMessage,
  threadId?: string,
): ShownMessage {
  const framed = embeds
    .flatMap(({ title, description }) => [title, description])
    .filter((text) => text !== undefined);
  const [file] = attachments;
  return {
    text: [content, ...framed].join('\n').trim(),
    buttons: [...JSON.stringify(components).matchAll(/"label":"([^"]*)"/g)].flatMap(
      ([, label]) => label ?? [],
    ),
    ...(threadId === undefined ? {} : { threadId }),
    ...(file === undefined ? {} : { file: { name: file.name, bytes: file.bytes } }),
  };
}
