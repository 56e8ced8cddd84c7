import type { ChatAddress, InboundEvent } from '../../platforms/platform.ts';

export interface SessionKeyRules {
  groupSessionsPerUser: boolean;
  threadSessionsPerUser: boolean;
}

/**
 * `agent:main:<platform>:<kind>:[<workspace>:]<chat>[:<thread>][:<user>]`. Parts are percent-encoded, so that no id
 * can pose as another key.
 */
export function sessionKeyOf(event: Pick<InboundEvent, 'chat' | 'sender'>, rules: SessionKeyRules): string {
  const { chat, sender } = event;
  const parts = ['agent', 'main', chat.platform, chat.kind];
  if (chat.workspaceId !== undefined) parts.push(chat.workspaceId);
  parts.push(chat.chatId);
  if (chat.threadId !== undefined) parts.push(chat.threadId);
  if (isPerUser(chat, rules)) parts.push(sender.id);
  return parts.map((part) => encodeURIComponent(part)).join(':');
}

function isPerUser(chat: ChatAddress, rules: SessionKeyRules): boolean {
  if (chat.kind === 'dm') return false;
  return chat.threadId === undefined ? rules.groupSessionsPerUser : rules.threadSessionsPerUser;
}

/** Whether several people speak in one session, so that each message must name its sender. */
export function isShared(chat: ChatAddress, rules: SessionKeyRules): boolean {
  return chat.kind !== 'dm' && !isPerUser(chat, rules);
}

/** The lane in which messages to one place keep their order. */
export function chatKeyOf(chat: ChatAddress): string {
  return [chat.platform, chat.workspaceId ?? '', chat.chatId, chat.threadId ?? ''].join('|');
}
