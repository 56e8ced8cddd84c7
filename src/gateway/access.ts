import type { ChatAddress, Sender } from '../../platforms/platform.ts';

/** Who may speak to the bot on one platform. Ids only: names can be taken by anyone. */
export interface AccessRules {
  /** The platform has checked the caller itself (the web page's token, the own terminal). */
  selfAuthenticating: boolean;
  allowedUsers: readonly string[];
  allowedRoles: readonly string[];
  allowedChats: readonly string[];
  admins: readonly string[];
  allowAll: boolean;
  allowBots: 'none' | 'mentions' | 'all';
  /** What a stranger gets in a DM. */
  strangers: 'pair' | 'ignore';
}

export type Access = { kind: 'allowed'; isAdmin: boolean } | { kind: 'stranger'; mayPair: boolean };

/**
 * The first rule that decides; when none does, nobody is let in. Applies to messages, edits, presses and remarks
 * into a busy session alike. `isPaired` is asked last, since it reads a file.
 */
export async function accessOf(
  caller: { sender: Sender; chat: ChatAddress; addressed: boolean },
  rules: AccessRules,
  isPaired: (userId: string) => Promise<boolean>,
): Promise<Access> {
  const { sender, chat } = caller;
  const isAdmin = rules.selfAuthenticating || rules.admins.includes(sender.id);
  const allowed: Access = { kind: 'allowed', isAdmin };
  if (isAdmin) return allowed;
  const refused: Access = { kind: 'stranger', mayPair: false };
  if (sender.isBot) {
    const heard = rules.allowBots === 'all' || (rules.allowBots === 'mentions' && caller.addressed);
    return heard ? allowed : refused;
  }
  if (sender.id === '') return refused;
  if (rules.allowedChats.includes('*') || rules.allowedChats.includes(chat.chatId)) return allowed;
  if (rules.allowAll || rules.allowedUsers.includes('*') || rules.allowedUsers.includes(sender.id))
    return allowed;
  if (sender.roles?.some((role) => rules.allowedRoles.includes(role))) return allowed;
  if (await isPaired(sender.id)) return allowed;
  return { kind: 'stranger', mayPair: chat.kind === 'dm' && rules.strangers === 'pair' };
}
