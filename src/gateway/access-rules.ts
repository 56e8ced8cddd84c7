import type { Config } from '../config/schema.ts';
import { strangersOn } from '../config/views.ts';
import type { AccessRules } from './access.ts';

const chatPlatforms = ['telegram', 'discord', 'slack'] as const;

/** Who may speak on a platform, as the configuration has it now. An unknown platform lets nobody in. */
export function accessRulesFor(config: Config, platform: string): AccessRules {
  const none: AccessRules = {
    selfAuthenticating: false,
    allowedUsers: [],
    allowedRoles: [],
    allowedChats: [],
    admins: [],
    allowAll: false,
    allowBots: 'none',
    strangers: 'ignore',
  };
  // The web page is behind the gateway's token, the terminal behind the login.
  if (platform === 'web' || platform === 'cli') return { ...none, selfAuthenticating: true };
  const name = chatPlatforms.find((known) => known === platform);
  if (!name) return none;
  const block = config[name];
  return {
    ...none,
    allowedUsers: [...block.allowed_users, ...config.gateway.allowed_users],
    allowedRoles: name === 'discord' ? config.discord.allowed_roles : [],
    allowedChats: block.group_allowed_chats,
    admins: block.admin_users,
    allowAll: block.allow_all_users || config.gateway.allow_all_users,
    allowBots: block.allow_bots,
    strangers: strangersOn(config, name),
  };
}
