import type { SlackChannel, SlackFile, SlackMessage, SlackUser, World } from './world.ts';

/** A file object as `files.info`, messages and events show it. */
export function fileToWire(file: SlackFile, root: string): Record<string, unknown> {
  const shares: Record<string, { ts: string; thread_ts?: string }[]> = {};
  for (const share of file.shares) {
    const list = shares[share.channel] ?? [];
    list.push({ ts: share.ts, ...(share.threadTs === undefined ? {} : { thread_ts: share.threadTs }) });
    shares[share.channel] = list;
  }
  return {
    id: file.id,
    name: file.name,
    title: file.title,
    mimetype: file.mimetype,
    size: file.bytes.length,
    user: file.user,
    mode: file.external ? 'external' : 'hosted',
    is_external: file.external,
    ...(file.subtype === undefined ? {} : { subtype: file.subtype }),
    url_private: `${root}/files-pri/${file.id}/${encodeURIComponent(file.name)}`,
    url_private_download: `${root}/files-pri/${file.id}/download/${encodeURIComponent(file.name)}`,
    shares: { public: shares },
  };
}

/** A message object as history and `message` events show it. */
export function messageToWire(message: SlackMessage, world: World, root: string, withMetadata = true) {
  const replies = world.messages.filter(
    (other) =>
      other.channel === message.channel &&
      other.threadTs === message.ts &&
      other.ts !== message.ts &&
      !other.deleted,
  );
  const parent = world.messages.find(
    (other) => other.channel === message.channel && other.ts === message.threadTs,
  );
  const threadTs = message.threadTs ?? (replies.length > 0 ? message.ts : undefined);
  return {
    type: 'message',
    ts: message.ts,
    user: message.user,
    text: message.text,
    ...(message.botId === undefined ? {} : { bot_id: message.botId, app_id: 'A0EMULATOR' }),
    ...(message.subtype === undefined ? {} : { subtype: message.subtype }),
    ...(message.blocks.length === 0 ? {} : { blocks: message.blocks }),
    ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
    ...(parent === undefined || parent.ts === message.ts ? {} : { parent_user_id: parent.user }),
    ...(replies.length === 0 ? {} : { reply_count: replies.length, latest_reply: replies.at(-1)?.ts }),
    ...(message.files.length === 0 ? {} : { files: message.files.map((file) => fileToWire(file, root)) }),
    ...(message.editedTs === undefined ? {} : { edited: { user: message.user, ts: message.editedTs } }),
    ...(withMetadata && message.metadata !== undefined ? { metadata: message.metadata } : {}),
    ...(message.reactions.size === 0
      ? {}
      : {
          reactions: [...message.reactions].map(([name, users]) => ({
            name,
            users: [...users],
            count: users.size,
          })),
        }),
  };
}

export function userToWire(user: SlackUser, teamId: string) {
  return {
    id: user.id,
    team_id: teamId,
    name: user.name,
    real_name: user.realName,
    locale: user.locale,
    is_bot: user.isBot,
    deleted: false,
    profile: { real_name: user.realName, display_name: user.name },
  };
}

export function channelToWire(channel: SlackChannel) {
  return {
    id: channel.id,
    name: channel.name,
    is_im: channel.type === 'im',
    is_mpim: channel.type === 'mpim',
    is_channel: channel.type === 'channel',
    is_group: channel.type === 'group',
    is_private: channel.type !== 'channel',
    is_archived: channel.archived,
    is_member: true,
  };
}
