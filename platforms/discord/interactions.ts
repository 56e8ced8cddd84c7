import type { Log } from '../../src/log.ts';
import { messagesFor } from '../../src/messages/messages.ts';
import type { PlatformSink, Press, PressReply, Sender } from '../platform.ts';
import { type ChannelFacts, type Channels, chatOf, factsOfWire } from './channels.ts';
import { readCustomId, writeCustomId } from './custom-id.ts';
import { isOpenChannel } from './gate.ts';
import type { Answer, Answerer } from './interaction-answer.ts';
import type { DiscordSettings } from './options.ts';
import type { PrivateAnswers } from './private-answers.ts';
import { timeOfSnowflake } from './snowflake.ts';
import type { Threads } from './threads.ts';
import type { CommandInteraction, ComponentInteraction, ModalInteraction, WireInteraction } from './wire.ts';

export interface InteractionDeps {
  settings: DiscordSettings;
  channels: Channels;
  threads: Threads;
  answerer: Answerer;
  privateAnswers: PrivateAnswers;
  log: Log;
}

/**
 * Presses, forms and slash commands. Each is stored through the sink and answered; none waits for a turn, and none
 * waits in a chat's lane, so `/stop` and a press pass everything else.
 */
export function createInteractions({
  settings,
  channels,
  threads,
  answerer,
  privateAnswers,
  log,
}: InteractionDeps) {
  async function onInteraction(interaction: WireInteraction, sink: PlatformSink): Promise<void> {
    if (interaction.type === 3) return onComponent(interaction, sink);
    const answered = Promise.withResolvers<void>();
    const work = () =>
      interaction.type === 2 ? command(interaction, answered.promise, sink) : submitted(interaction, sink);
    await answerer.answerWith(interaction, safely(interaction, work));
    answered.resolve();
  }

  async function onComponent(interaction: ComponentInteraction, sink: PlatformSink): Promise<void> {
    // A select's option is a target as well; its own id only names the row.
    const target = readCustomId(interaction.data.values?.[0] ?? interaction.data.custom_id);
    if (target?.kind === 'form') {
      const customId = writeCustomId({ kind: 'press', id: target.id });
      return answerer.openForm(interaction, { customId, title: target.label, label: target.label });
    }
    const pressed = async () => (target === null ? null : press(interaction, target.id, sink));
    return answerer.answerWith(interaction, safely(interaction, pressed));
  }

  async function submitted(interaction: ModalInteraction, sink: PlatformSink): Promise<Answer> {
    const target = readCustomId(interaction.data.custom_id);
    const fields = interaction.data.components.flatMap(
      ({ component, components = [] }) => component ?? components,
    );
    const input = fields[0]?.value.trim() ?? '';
    return target === null ? null : press(interaction, target.id, sink, input);
  }

  async function press(
    interaction: ComponentInteraction | ModalInteraction,
    buttonId: string,
    sink: PlatformSink,
    input = '',
  ): Promise<Answer> {
    const event: Press = {
      eventId: `i${interaction.id}`,
      chat: threads.chatIn(await channelOf(interaction), interaction.message),
      sender: senderOf(interaction),
      messageId: interaction.message?.id ?? '',
      buttonId,
      ...(input === '' ? {} : { input }),
    };
    return toAnswer(await sink.press(event));
  }

  async function command(
    interaction: CommandInteraction,
    answered: Promise<void>,
    sink: PlatformSink,
  ): Promise<Answer> {
    const channel = await channelOf(interaction);
    const { notInThisChannel } = messagesFor(interaction.locale).adapter;
    if (!isOpenChannel(channel, settings)) return { text: notInThisChannel };
    const values = (interaction.data.options ?? []).map(({ value }) => String(value ?? ''));
    const text = [`/${interaction.data.name}`, ...values].join(' ').trim();
    // In a DM nobody else reads along.
    if (channel.kind !== 'dm') await privateAnswers.expect(interaction, answered);
    await sink.receive({
      eventId: `i${interaction.id}`,
      kind: 'message',
      chat: chatOf(channel),
      ...(channel.name === undefined ? {} : { chatTitle: channel.name }),
      sender: senderOf(interaction),
      messageId: interaction.id,
      text,
      addressed: true,
      attachments: [],
      sentAt: timeOfSnowflake(interaction.id),
    });
    return { text: `✅ /${interaction.data.name}` };
  }

  async function safely(interaction: WireInteraction, task: () => Promise<Answer>): Promise<Answer> {
    try {
      return await task();
    } catch (error) {
      log.error({ err: error }, 'a Discord interaction could not be stored');
      return { text: messagesFor(interaction.locale).adapter.notStored };
    }
  }

  function channelOf({ channel, channel_id: id }: WireInteraction): Promise<ChannelFacts> | ChannelFacts {
    return channel === undefined ? channels.get(id) : factsOfWire(channel);
  }

  return { onInteraction };
}

const toAnswer = ({ text, alert }: PressReply): Answer => (alert ? { text } : null);

function senderOf({ user, member, locale }: WireInteraction): Sender {
  const account = member?.user ?? user;
  if (account === undefined) throw new Error('Discord sent an interaction of nobody.');
  return {
    id: account.id,
    name: member?.nick ?? account.global_name ?? account.username,
    isBot: account.bot === true,
    ...(locale === undefined ? {} : { locale }),
    ...(member === undefined ? {} : { roles: member.roles }),
  };
}
