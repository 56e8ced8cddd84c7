import type { ChatAddress, ChatKind } from '../platform.ts';

export interface Place {
  teamId: string;
  channel: string;
  /** `im`, `mpim`, `channel` or `group`, where the event says so. */
  channelType?: string | undefined;
  /** The channel's name, from which slash commands and presses tell its kind. */
  channelName?: string | undefined;
  threadTs?: string | undefined;
}

/** The address of a Slack place. A thread outside a DM is a chat of its own kind; a DM stays one. */
export function addressOf(place: Place): ChatAddress {
  const room = roomKind(place);
  return {
    platform: 'slack',
    kind: room !== 'dm' && place.threadTs !== undefined ? 'thread' : room,
    chatId: place.channel,
    ...(place.threadTs === undefined ? {} : { threadId: place.threadTs }),
    workspaceId: place.teamId,
  };
}

function roomKind({ channel, channelType, channelName }: Place): Exclude<ChatKind, 'thread'> {
  if (channelType === 'im' || channel.startsWith('D') || channelName === 'directmessage') return 'dm';
  if (channelType === 'mpim' || channelName?.startsWith('mpdm-') === true) return 'group';
  return 'channel';
}

/** The key of a chat in this adapter's maps and memory. */
export function chatKey(chat: ChatAddress): string {
  return [chat.workspaceId ?? '', chat.chatId, chat.threadId ?? ''].join(':');
}

/** The chat of a key, as far as the API needs it: the kind is not part of a key. */
export function chatOfKey(key: string): ChatAddress {
  const [teamId = '', channel = '', threadTs = ''] = key.split(':');
  return addressOf({ teamId, channel, ...(threadTs === '' ? {} : { threadTs }) });
}
