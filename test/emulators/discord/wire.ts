import {
  channelTypes,
  type DiscordChannel,
  type DiscordGuild,
  type DiscordMessage,
  type DiscordUser,
  findMessage,
  isThread,
  messagesOf,
  timeOf,
  type World,
} from './world.ts';

/** The world as Discord writes it on the wire. */
export type Wire = Record<string, unknown>;

export const userToWire = (user: DiscordUser): Wire => ({
  id: user.id,
  username: user.name.toLowerCase(),
  global_name: user.isBot ? null : user.name,
  discriminator: '0',
  avatar: null,
  bot: user.isBot,
  public_flags: 0,
});

export function memberToWire(guild: DiscordGuild, userId: string): Wire {
  const member = guild.members.get(userId);
  return {
    roles: member?.roles ?? [],
    nick: member?.nick ?? null,
    joined_at: '2026-01-01T00:00:00.000000+00:00',
    communication_disabled_until: member?.timeoutUntil ?? null,
    deaf: false,
    mute: false,
    flags: 0,
  };
}

export function channelToWire(channel: DiscordChannel, world: World): Wire {
  const base = {
    id: channel.id,
    type: channel.type,
    last_message_id: messagesOf(world, channel.id).at(-1)?.id ?? null,
    flags: 0,
  };
  if (channel.type === channelTypes.dm) {
    const recipient = world.users.get(channel.recipientId ?? '');
    return { ...base, recipients: recipient === undefined ? [] : [userToWire(recipient)] };
  }
  const guildFields = {
    ...base,
    guild_id: channel.guildId,
    name: channel.name,
    parent_id: channel.parentId ?? null,
    permission_overwrites: [],
    position: 0,
    topic: channel.topic,
    nsfw: false,
    rate_limit_per_user: 0,
  };
  if (!isThread(channel)) return guildFields;
  return {
    ...guildFields,
    owner_id: channel.ownerId,
    message_count: 0,
    member_count: channel.threadMembers.size,
    total_message_sent: 0,
    thread_metadata: {
      archived: channel.archived,
      auto_archive_duration: 1440,
      archive_timestamp: new Date(timeOf(channel.id)).toISOString(),
      locked: false,
    },
  };
}

export interface MessageView {
  root: string;
  /** Text is emptied unless the bot wrote it, is mentioned, or it is a DM. */
  withoutContent: boolean;
}

const mentionIds = (content: string): string[] =>
  [...content.matchAll(/<@!?(\d+)>/g)].flatMap(([, id]) => id ?? []);

export function messageToWire(message: DiscordMessage, world: World, view: MessageView, depth = 0): Wire {
  const channel = world.channels.get(message.channelId);
  const author = world.users.get(message.authorId);
  const mentioned = mentionIds(message.content).flatMap((id) => world.users.get(id) ?? []);
  const open =
    !view.withoutContent ||
    message.authorId === world.bot.id ||
    channel?.type === channelTypes.dm ||
    mentioned.includes(world.bot);
  const { reference } = message;
  const replied =
    reference === undefined ? undefined : findMessage(world, reference.channelId, reference.messageId);
  const thread = world.channels.get(message.id);
  return {
    id: message.id,
    channel_id: message.channelId,
    author: author === undefined ? undefined : userToWire(author),
    content: open ? message.content : '',
    timestamp: new Date(timeOf(message.id)).toISOString(),
    edited_timestamp: message.editedAt === null ? null : new Date(message.editedAt).toISOString(),
    tts: false,
    mention_everyone: message.pinged.includes('everyone'),
    mentions: mentioned.map(userToWire),
    mention_roles: [...message.content.matchAll(/<@&(\d+)>/g)].map(([, id]) => id),
    attachments: open ? message.attachments.map((file) => attachmentToWire(file, message, view.root)) : [],
    embeds: open ? message.embeds : [],
    components: open ? message.components : [],
    reactions: [...message.reactions].map(([emoji, users]) => ({
      count: users.size,
      count_details: { burst: 0, normal: users.size },
      me: users.has(world.bot.id),
      me_burst: false,
      emoji: { id: null, name: emoji },
      burst_colors: [],
    })),
    pinned: message.pinned,
    type: message.type,
    flags: message.flags,
    ...(thread === undefined ? {} : { thread: channelToWire(thread, world) }),
    ...(reference === undefined
      ? {}
      : {
          message_reference: { type: 0, message_id: reference.messageId, channel_id: reference.channelId },
          referenced_message:
            replied === undefined || depth > 0 ? null : messageToWire(replied, world, view, depth + 1),
        }),
  };
}

const attachmentToWire = (
  file: DiscordMessage['attachments'][number],
  message: DiscordMessage,
  root: string,
) => ({
  id: file.id,
  filename: file.name,
  size: file.bytes.length,
  url: `${root}/attachments/${message.channelId}/${file.id}/${encodeURIComponent(file.name)}`,
  proxy_url: `${root}/attachments/${message.channelId}/${file.id}/${encodeURIComponent(file.name)}`,
  content_type: file.mimeType,
  ...(file.name.startsWith('voice-message') ? { duration_secs: 1, waveform: 'AA==' } : {}),
});

/** Fields that a `MESSAGE_CREATE` or `MESSAGE_UPDATE` dispatch has beside the message itself. */
export function messageEventFields(message: DiscordMessage, world: World): Wire {
  const channel = world.channels.get(message.channelId);
  const guild = world.guilds.get(channel?.guildId ?? '');
  return {
    channel_type: channel?.type,
    ...(guild === undefined ? {} : { guild_id: guild.id, member: memberToWire(guild, message.authorId) }),
  };
}

export function guildToWire(guild: DiscordGuild, world: World): Wire {
  const own = [...world.channels.values()].filter(
    (channel) => channel.guildId === guild.id && !channel.hidden,
  );
  return {
    id: guild.id,
    name: guild.name,
    owner_id: guild.ownerId,
    icon: null,
    features: [],
    roles: guild.roles.map(roleToWire),
    emojis: [],
    stickers: [],
    channels: own.filter((channel) => !isThread(channel)).map((channel) => channelToWire(channel, world)),
    threads: own
      .filter((channel) => isThread(channel) && !channel.archived)
      .map((channel) => channelToWire(channel, world)),
    members: [{ user: userToWire(world.bot), ...memberToWire(guild, world.bot.id) }],
    presences: [],
    voice_states: [],
    stage_instances: [],
    guild_scheduled_events: [],
    member_count: guild.members.size,
    joined_at: '2026-01-01T00:00:00.000000+00:00',
    large: false,
    unavailable: false,
    premium_tier: 0,
    preferred_locale: 'en-US',
    afk_timeout: 300,
    verification_level: 0,
    default_message_notifications: 0,
    explicit_content_filter: 0,
    mfa_level: 0,
    nsfw_level: 0,
    system_channel_flags: 0,
    premium_progress_bar_enabled: false,
  };
}

export const roleToWire = (role: DiscordGuild['roles'][number], position: number): Wire => ({
  id: role.id,
  name: role.name,
  color: 0,
  colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
  hoist: false,
  position,
  permissions: '0',
  managed: role.botId !== undefined,
  mentionable: true,
  flags: 0,
  ...(role.botId === undefined ? {} : { tags: { bot_id: role.botId } }),
});
