import { startDiscordEmulator } from '../../emulators/discord/discord-emulator.ts';
import { effectsOfCall } from '../../emulators/discord/effects.ts';
import type { Interaction } from '../../emulators/discord/interactions.ts';
import { shownOf } from '../../emulators/discord/rig.ts';
import type { DiscordUserHandle } from '../../emulators/discord/user.ts';
import { type DiscordChannel, type DiscordMessage, messagesOf } from '../../emulators/discord/world.ts';
import { joinEffects } from '../../emulators/effects.ts';
import { markdownLinks } from '../../emulators/markdown-links.ts';
import type { StageMessage, StagePerson, StagePlace, TimedPlatform } from './stage.ts';
import { untilFound } from './until.ts';

/** People at Discord. A shared chat is a text channel of the server, with threads. */
export async function openDiscord(): Promise<TimedPlatform> {
  const discord = await startDiscordEmulator();
  const { world } = discord;

  function channelOf({ chatId, threadId }: StagePlace): DiscordChannel {
    const channel = world.channels.get(threadId ?? chatId);
    if (channel === undefined) throw new Error(`no channel ${threadId ?? chatId}`);
    return channel;
  }
  const botMessages = (place: StagePlace) =>
    messagesOf(world, channelOf(place).id).filter(({ authorId }) => authorId === world.bot.id);

  const answered = (interaction: Interaction) =>
    untilFound(
      'the answer to an interaction',
      () => interaction.answer,
      () => 'none',
    );
  async function press(user: DiscordUserHandle, label: string, place: StagePlace): Promise<void> {
    const message = botMessages(place).findLast(({ components }) =>
      JSON.stringify(components).includes(label),
    );
    if (message === undefined) throw new Error(`no button "${label}"`);
    await answered(user.presses(label, message));
  }

  function personOf(user: DiscordUserHandle): StagePerson {
    const dm = { chatId: user.dm().id };
    const addressed = (text: string, place: StagePlace) =>
      channelOf(place).recipientId === undefined ? `<@${world.bot.id}> ${text}` : text;
    return {
      id: user.id,
      name: user.name,
      dm,
      says(text, place = dm) {
        const message = user.says(addressed(text, place), { channel: channelOf(place) });
        return { edit: (better) => user.edits(message, addressed(better, place)) };
      },
      mutters: (text, place) => void user.says(text, { channel: channelOf(place) }),
      replies(text, place) {
        const replyTo = botMessages(place).at(-1);
        if (replyTo === undefined) throw new Error('nothing to reply to');
        user.says(text, { channel: channelOf(place), replyTo });
      },
      uploadsPictures: (count, text) =>
        void user.says(text, {
          files: Array.from({ length: count }, (_, index) => ({
            name: `picture${index}.png`,
            bytes: Buffer.from(`picture ${index}`),
            mimeType: 'image/png',
          })),
        }),
      uploads: (name, bytes, text, place = dm) =>
        void user.uploads(name, bytes, 'text/plain', {
          channel: channelOf(place),
          text: addressed(text, place),
        }),
      commands(line, place = dm) {
        const [name = '', ...words] = line.split(' ');
        user.types(name, words.join(' '), channelOf(place));
      },
      presses: (label, place = dm) => press(user, label, place),
      async denies(reason, place = dm) {
        await press(user, 'Deny', place);
        await answered(user.submits(reason));
      },
      told: user.privately,
    };
  }

  return {
    name: 'discord',
    env: { DISCORD_BOT_TOKEN: discord.token, DISCORD_API_ROOT: discord.apiRoot },
    tooLarge: { bytes: 33 * 1_048_576, limit: '32 MiB' },
    messageUnits: 2_000,
    addPerson: (name) => personOf(discord.addUser(name)),
    addRoom(title) {
      const channel = discord.addChannel(title);
      const opener = discord.addUser('Opener');
      return {
        chatId: channel.id,
        openThread: (name) => ({ chatId: channel.id, threadId: opener.startsThread(channel, name).id }),
      };
    },
    shown: (place) => botMessages(place).map((message) => messageOf(message, place)),
    faults: {
      rateLimit: (retryAfter) =>
        discord.fail('POST /channels/{channel_id}/messages', { status: 429, retryAfter }),
      dropConnection: discord.dropSocket,
      redeliver: () => discord.redeliver(),
    },
    described: discord.described,
    newMethods: [],
    violations: discord.violations,
    effects: () => joinEffects(discord.calls.map((call) => effectsOfCall(call, world))),
    answersMs: () => discord.interactions.map(({ answeredAfterMs }) => answeredAfterMs),
    close: discord.close,
  };
}

function messageOf(message: DiscordMessage, { threadId }: StagePlace): StageMessage {
  const shown = shownOf(message, threadId);
  return {
    id: message.id,
    ...shown,
    markdown: true,
    links: markdownLinks(shown.text),
    pings: message.pinged,
  };
}
