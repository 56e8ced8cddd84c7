import { joinEffects } from '../../emulators/effects.ts';
import { effectsOfCall, effectsOfMessage } from '../../emulators/slack/effects.ts';
import { shownOf } from '../../emulators/slack/rig.ts';
import { startSlackEmulator } from '../../emulators/slack/slack-emulator.ts';
import type { SlackUserHandle } from '../../emulators/slack/user.ts';
import { addMessage, type SlackChannel, type SlackMessage } from '../../emulators/slack/world.ts';
import type { StageMessage, StagePerson, StagePlace, TimedPlatform } from './stage.ts';
import { untilFound } from './until.ts';

/** People at Slack. A shared chat is a channel, with threads. */
export async function openSlack(): Promise<TimedPlatform> {
  const slack = await startSlackEmulator();
  const { world, team } = slack;
  const handles = new Map<string, SlackUserHandle>();

  function channelOf({ chatId }: StagePlace): SlackChannel {
    const channel = world.channels.get(chatId);
    if (channel === undefined) throw new Error(`no channel ${chatId}`);
    return channel;
  }
  const botMessages = (place: StagePlace) =>
    world.messages.filter(
      ({ channel, threadTs, botId, deleted, subtype }) =>
        channel === place.chatId &&
        threadTs === place.threadId &&
        botId === team.botId &&
        !deleted &&
        subtype !== 'assistant_app_thread',
    );

  async function press(user: SlackUserHandle, label: string, place: StagePlace): Promise<void> {
    const message = botMessages(place).findLast(({ blocks }) => JSON.stringify(blocks).includes(label));
    if (message === undefined) throw new Error(`no button "${label}"`);
    await user.presses(label, message).acked;
  }

  function personOf(user: SlackUserHandle): StagePerson {
    const dm = { chatId: user.dm().id };
    const at = (place: StagePlace) => ({
      channel: channelOf(place),
      ...(place.threadId !== undefined && { threadTs: place.threadId }),
    });
    const addressed = (text: string, place: StagePlace) =>
      channelOf(place).type === 'im' ? text : `<@${team.botUserId}> ${text}`;
    return {
      id: user.id,
      // Slack's people go by their display name.
      name: world.users.get(user.id)?.name ?? user.name,
      dm,
      says(text, place = dm) {
        const { message } = user.says(addressed(text, place), at(place));
        return { edit: (better) => void user.edits(message, addressed(better, place)) };
      },
      mutters: (text, place) => void user.says(text, at(place)),
      // A thread with a message of the bot's is one that it takes part in; Slack has no replies but threads.
      replies: (text, place) => void user.says(text, at(place)),
      uploadsPictures: (count, text) =>
        void user.uploadsAll(
          Array.from({ length: count }, (_, index) => ({
            name: `picture${index}.png`,
            bytes: Buffer.from(`picture ${index}`),
            mimetype: 'image/png',
          })),
          { text },
        ),
      uploads: (name, bytes, text, place = dm) =>
        void user.uploads(name, bytes, 'text/plain', { ...at(place), text: addressed(text, place) }),
      // Slack lets nobody write a slash command in a thread.
      commands(line, place = dm) {
        if (place.threadId === undefined) user.types('/hermes', line, channelOf(place));
        else user.says(`!${line}`, at(place));
      },
      presses: (label, place = dm) => press(user, label, place),
      async denies(reason, place = dm) {
        await press(user, 'Deny', place);
        await untilFound(
          'the form',
          () => [...world.views.values()].find(({ open }) => open),
          () => 'no form',
        );
        await user.submits(reason).acked;
      },
      told: user.privately,
    };
  }

  return {
    name: 'slack',
    env: {
      SLACK_BOT_TOKEN: team.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_ROOT: slack.apiRoot,
    },
    tooLarge: { bytes: 101 * 1_048_576, limit: '100 MB' },
    messageUnits: 12_000,
    addPerson(name) {
      const user = slack.addUser(name);
      handles.set(user.id, user);
      return personOf(user);
    },
    addRoom(title, people) {
      const members = people.flatMap(({ id }) => handles.get(id) ?? []);
      const channel = slack.addChannel(title, 'channel', members);
      return {
        chatId: channel.id,
        openThread(name) {
          const user = members[0]?.id ?? team.botUserId;
          const { ts } = addMessage(world, { channel: channel.id, user, text: name });
          return { chatId: channel.id, threadId: ts };
        },
      };
    },
    shown: (place) => botMessages(place).map(messageOf),
    faults: {
      rateLimit: (retryAfter) => slack.fail('chat.postMessage', { status: 429, retryAfter }),
      dropConnection: slack.dropSocket,
      redeliver() {
        for (const receipt of slack.receipts) if (receipt.kind === 'events_api') slack.redeliver(receipt);
      },
    },
    described: slack.described,
    newMethods: [
      'assistant.threads.setStatus',
      'chat.appendStream',
      'chat.startStream',
      'chat.stopStream',
      'files.completeUploadExternal',
      'files.getUploadURLExternal',
    ],
    violations: slack.violations,
    effects: () =>
      joinEffects([
        ...slack.calls.map(effectsOfCall),
        ...world.ephemerals.map(({ text, blocks }) => effectsOfMessage(text, blocks)),
      ]),
    answersMs: () => slack.receipts.map(({ ackMs }) => ackMs),
    close: slack.close,
  };
}

function messageOf(message: SlackMessage): StageMessage {
  return {
    id: message.ts,
    ...shownOf(message),
    text: textOf(message),
    markdown: true,
    ...effectsOfMessage(message.text, message.blocks),
  };
}

/** One paragraph a block, as Slack shows them. */
function textOf(message: SlackMessage): string {
  const blocks = message.blocks.filter(({ type }) => type !== 'actions' && type !== 'divider');
  if (blocks.length === 0) return shownOf(message).text;
  const text = blocks.map((block) => shownOf({ ...message, blocks: [block] }).text).join('\n\n');
  return text.replace(/<!date\^[^|>]*\|([^>]*)>/g, '$1');
}
