/** What the bot needs in a server. discord.com/developers/docs/topics/permissions */
export const botPermissions = {
  ADD_REACTIONS: 1n << 6n,
  VIEW_CHANNEL: 1n << 10n,
  SEND_MESSAGES: 1n << 11n,
  EMBED_LINKS: 1n << 14n,
  ATTACH_FILES: 1n << 15n,
  READ_MESSAGE_HISTORY: 1n << 16n,
  CREATE_PUBLIC_THREADS: 1n << 35n,
  SEND_MESSAGES_IN_THREADS: 1n << 38n,
} as const;

/** Besides, for the `discord_admin` tool. */
export const moderationPermissions = {
  KICK_MEMBERS: 1n << 1n,
  BAN_MEMBERS: 1n << 2n,
  MANAGE_CHANNELS: 1n << 4n,
  MANAGE_MESSAGES: 1n << 13n,
  MANAGE_ROLES: 1n << 28n,
  MODERATE_MEMBERS: 1n << 40n,
} as const;

export interface InviteOptions {
  applicationId: string;
  /** Also asks for the rights of the `discord_admin` tool. */
  moderation?: boolean;
}

/** The link that a server's owner opens to let the bot in, with no more rights than it uses. */
export function inviteLink({ applicationId, moderation = false }: InviteOptions): string {
  const granted = [
    ...Object.values(botPermissions),
    ...(moderation ? Object.values(moderationPermissions) : []),
  ];
  const query = new URLSearchParams({
    client_id: applicationId,
    scope: 'bot applications.commands',
    permissions: granted.reduce((all, bit) => all | bit, 0n).toString(),
  });
  return `https://discord.com/oauth2/authorize?${query}`;
}

/** A bot token begins with the application's id in base64; null when it does not. */
export function applicationIdOf(token: string): string | null {
  const id = Buffer.from(token.split('.')[0] ?? '', 'base64url').toString('latin1');
  return /^\d{15,20}$/.test(id) ? id : null;
}
