import { z } from 'zod';
import type { Interaction } from './interactions.ts';
import { actionRow } from './message-body.ts';
import type { RouteContext } from './route.ts';
import { newChannel } from './routes/channels.ts';
import { channelToWire, memberToWire, messageToWire, userToWire, type Wire } from './wire.ts';
import {
  channelTypes,
  type DiscordAttachment,
  type DiscordChannel,
  type DiscordMessage,
  type DiscordUser,
  messagesOf,
  newMessage,
} from './world.ts';

export interface SayOptions {
  /** A DM with the bot when absent. */
  channel?: DiscordChannel | undefined;
  replyTo?: DiscordMessage;
  files?: { name: string; bytes: Buffer; mimeType: string }[];
  /** Milliseconds ago, for what was said while the bot was away. */
  agoMs?: number;
  /** Discord tells nobody: the gateway was down. */
  unheard?: boolean;
}

/** A person at their Discord client. */
export interface DiscordUserHandle {
  id: string;
  name: string;
  dm(): DiscordChannel;
  says(text: string, options?: SayOptions): DiscordMessage;
  /** Says it with a mention of the bot in front. */
  asks(text: string, options?: SayOptions): DiscordMessage;
  edits(message: DiscordMessage, text: string): void;
  uploads(
    name: string,
    bytes: Buffer,
    mimeType: string,
    options?: SayOptions & { text?: string },
  ): DiscordMessage;
  /** Presses the button with this label or custom id; a select by its option's label. */
  presses(button: string, message: DiscordMessage): Interaction;
  /** Fills the form that the last press of this person opened. */
  submits(text: string): Interaction;
  types(command: string, text?: string, channel?: DiscordChannel): Interaction;
  startsThread(parent: DiscordChannel, name: string): DiscordChannel;
  postsInForum(forum: DiscordChannel, title: string, text: string): DiscordMessage;
  /** Messages of the bot that this person sees, oldest first. */
  botShows(channel?: DiscordChannel): DiscordMessage[];
  /** Texts that only this person was shown. */
  privately(): string[];
}

const modalData = z.looseObject({
  custom_id: z.string(),
  components: z.array(
    z.looseObject({
      component: z.looseObject({ type: z.number(), custom_id: z.string() }).optional(),
      components: z.array(z.looseObject({ type: z.number(), custom_id: z.string() })).optional(),
    }),
  ),
});

export function createUser(user: DiscordUser, context: RouteContext): DiscordUserHandle {
  const { world } = context;

  function dm(): DiscordChannel {
    const known = [...world.channels.values()].find((channel) => channel.recipientId === user.id);
    return known ?? newChannel(world, { type: channelTypes.dm, recipientId: user.id });
  }

  function says(text: string, options: SayOptions = {}): DiscordMessage {
    const channel = options.channel ?? dm();
    const { replyTo, agoMs = 0 } = options;
    const message = newMessage(world, {
      id: world.nextId(Date.now() - agoMs),
      channelId: channel.id,
      authorId: user.id,
      content: text,
      attachments: (options.files ?? []).map((file): DiscordAttachment => ({ ...file, id: world.nextId() })),
      ...(replyTo === undefined
        ? {}
        : { type: 19, reference: { messageId: replyTo.id, channelId: replyTo.channelId } }),
    });
    world.messages.push(message);
    if (options.unheard !== true) context.announce('MESSAGE_CREATE', message);
    return message;
  }

  function interact(
    type: number,
    interaction: Interaction,
    data: Wire,
    message?: DiscordMessage,
  ): Interaction {
    const channel = world.channels.get(interaction.channelId);
    if (channel === undefined) throw new Error('no such channel');
    const guild = world.guilds.get(channel.guildId ?? '');
    const who = userToWire(user);
    const wire = {
      id: interaction.id,
      application_id: world.applicationId,
      type,
      token: interaction.token,
      version: 1,
      data,
      channel_id: channel.id,
      channel: channelToWire(channel, world),
      locale: user.locale,
      entitlements: [],
      authorizing_integration_owners: {},
      attachment_size_limit: 10_485_760,
      context: guild === undefined ? 1 : 0,
      app_permissions: '0',
      ...(message === undefined ? {} : { message: messageToWire(message, world, context.view()) }),
      ...(guild === undefined
        ? { user: who }
        : {
            guild_id: guild.id,
            guild_locale: 'en-US',
            member: { user: who, permissions: '0', ...memberToWire(guild, user.id) },
          }),
    };
    context.dispatch(
      'INTERACTION_CREATE',
      wire,
      guild === undefined ? { direct: true } : { guildId: guild.id },
    );
    return interaction;
  }

  function open(kind: Interaction['kind'], channelId: string, messageId?: string): Interaction {
    return context.interactions.open({ userId: user.id, channelId, kind, messageId });
  }

  const handle: DiscordUserHandle = {
    id: user.id,
    name: user.name,
    dm,
    says,
    asks: (text, options) => says(`<@${world.bot.id}> ${text}`, options),
    edits(message, text) {
      message.content = text;
      message.editedAt = Date.now();
      message.shown.push(text);
      context.announce('MESSAGE_UPDATE', message);
    },
    uploads: (name, bytes, mimeType, { text = '', ...options } = {}) =>
      says(text, { ...options, files: [{ name, bytes, mimeType }] }),
    presses(button, message) {
      for (const row of z.array(actionRow).parse(message.components)) {
        for (const component of row.components) {
          const { custom_id: customId } = component;
          if (component.type === 2 && (customId === button || component.label?.includes(button))) {
            return interact(
              3,
              open('component', message.channelId, message.id),
              { component_type: 2, custom_id: customId, id: 1 },
              message,
            );
          }
          const option =
            component.type === 3 ? component.options.find(({ label }) => label.includes(button)) : undefined;
          if (option !== undefined) {
            const data = { component_type: 3, custom_id: customId, values: [option.value], id: 1 };
            return interact(3, open('component', message.channelId, message.id), data, message);
          }
        }
      }
      throw new Error(`no button ${button} on ${JSON.stringify(message.components)}`);
    },
    submits(text) {
      const asked = context.interactions.all.findLast(
        ({ userId, answer }) => userId === user.id && answer?.type === 9,
      );
      if (asked?.answer === undefined) throw new Error('no form is open');
      const form = modalData.parse(asked.answer.data);
      const filled = form.components.map((row, id) => {
        const value = (field: { type: number; custom_id: string }) => ({
          type: 4,
          id,
          custom_id: field.custom_id,
          value: text,
        });
        return row.component === undefined
          ? { type: 1, id, components: (row.components ?? []).map(value) }
          : { type: 18, id, component: value(row.component) };
      });
      const message = world.messages.find(({ id }) => id === asked.messageId);
      const data = { custom_id: form.custom_id, components: filled };
      return interact(5, open('modal', asked.channelId, asked.messageId), data, message);
    },
    types(command, text = '', channel = dm()) {
      const known = world.commands.find(({ name }) => name === command);
      if (known === undefined) throw new Error(`no command ${command} is registered`);
      const [option] = z.array(z.looseObject({ name: z.string() })).parse(known['options'] ?? []);
      const options =
        text === '' || option === undefined ? [] : [{ name: option.name, type: 3, value: text }];
      return interact(2, open('command', channel.id), { id: known['id'], name: command, type: 1, options });
    },
    startsThread(parent, name) {
      const thread = newChannel(world, {
        type: channelTypes.publicThread,
        name,
        parentId: parent.id,
        ownerId: user.id,
        ...(parent.guildId === undefined ? {} : { guildId: parent.guildId }),
      });
      context.dispatch('THREAD_CREATE', channelToWire(thread, world), context.targetOf(parent));
      return thread;
    },
    postsInForum(forum, title, text) {
      const thread = handle.startsThread(forum, title);
      const message = newMessage(world, {
        id: thread.id,
        channelId: thread.id,
        authorId: user.id,
        content: text,
      });
      world.messages.push(message);
      context.announce('MESSAGE_CREATE', message);
      return message;
    },
    botShows: (channel = dm()) =>
      messagesOf(world, channel.id).filter(({ authorId }) => authorId === world.bot.id),
    privately: () =>
      world.ephemerals.filter(({ userId }) => userId === user.id).map(({ content }) => content),
  };
  return handle;
}
