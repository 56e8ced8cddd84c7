import type { ChannelFacts } from './channels.ts';
import type { DiscordSettings } from './options.ts';
import { channelType } from './wire.ts';

/** The facts that decide whether a message is for the bot. */
export interface GateFacts {
  channel: ChannelFacts;
  author: 'person' | 'bot' | 'self';
  /** The bot or its role is named in the text. */
  mentioned: boolean;
  repliesToBot: boolean;
  /** The bot has written in this thread, or opened it. */
  takesPart: boolean;
}

export type GateVerdict = { pass: false } | { pass: true; openThread: boolean };

const threadable: readonly number[] = [channelType.text, channelType.announcement];
const stop: GateVerdict = { pass: false };

/** Whether channel lists let the bot act here at all. A thread counts as its parent channel too. */
export function isOpenChannel(channel: ChannelFacts, settings: DiscordSettings): boolean {
  if (channel.kind === 'dm') return true;
  if (isListed(channel, settings.ignoredChannels)) return false;
  return settings.allowedChannels.length === 0 || isListed(channel, settings.allowedChannels);
}

export function judge(facts: GateFacts, settings: DiscordSettings): GateVerdict {
  const { channel, author, mentioned, repliesToBot, takesPart } = facts;
  if (author === 'self' || !isOpenChannel(channel, settings)) return stop;
  if (author === 'bot' && settings.allowBots === 'none') return stop;
  if (author === 'bot' && settings.allowBots === 'mentions' && !mentioned) return stop;
  if (channel.kind === 'dm') return { pass: true, openThread: false };
  const free = isListed(channel, settings.freeResponseChannels);
  const spokenTo = mentioned || repliesToBot || takesPart || free || !settings.requireMention;
  if (!spokenTo) return stop;
  const openThread =
    settings.autoThread &&
    threadable.includes(channel.type) &&
    !free &&
    // A reply goes on where the bot has written, unless the bot is called anew.
    (mentioned || !repliesToBot) &&
    !isListed(channel, settings.noThreadChannels);
  return { pass: true, openThread };
}

function isListed({ id, parentId }: ChannelFacts, list: readonly string[]): boolean {
  return list.includes(id) || (parentId !== undefined && list.includes(parentId));
}
