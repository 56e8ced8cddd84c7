import type { Config } from './schema.ts';

/** Answers that need more than one key of the configuration. */

export type ChatPlatform = 'telegram' | 'discord' | 'slack';

/** A platform is on when the file says so, or says nothing and there is a token. */
export function isPlatformEnabled(config: Config, platform: ChatPlatform): boolean {
  return config[platform].token !== '' && config[platform].enabled !== false;
}

export type PlatformDisplay = Pick<
  Config['display'],
  | 'tool_progress'
  | 'busy_input_mode'
  | 'busy_ack_enabled'
  | 'background_process_notifications'
  | 'interim_assistant_messages'
  | 'show_reasoning'
  | 'max_messages'
  | 'language'
>;

/** Channels of a workspace are read by many: no progress lines there, unless asked for. */
const quietPlatforms: ReadonlySet<string> = new Set(['slack']);

export function displayFor(config: Config, platform: string): PlatformDisplay {
  const quiet: Partial<PlatformDisplay> = quietPlatforms.has(platform) ? { tool_progress: 'off' } : {};
  const own = config.display.platforms[platform] ?? {};
  const set = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  return { ...config.display, ...quiet, ...set };
}

/** The reset rule of a chat: by platform before by kind of chat before the general one. */
export function resetPolicyFor(
  config: Config,
  chat: { kind: 'dm' | 'group' | 'channel' | 'thread'; platform: string },
): { mode: 'both' | 'daily' | 'idle' | 'none'; atHour: number; idleMinutes: number } {
  const byPlatform = config.reset_by_platform[chat.platform];
  const byType = config.reset_by_type[chat.kind];
  return {
    mode: byPlatform?.mode ?? byType?.mode ?? config.session_reset.mode,
    atHour: byPlatform?.at_hour ?? byType?.at_hour ?? config.session_reset.at_hour,
    idleMinutes: byPlatform?.idle_minutes ?? byType?.idle_minutes ?? config.session_reset.idle_minutes,
  };
}

/**
 * What a stranger gets in a DM. Where someone has been listed as allowed, the default is silence: the owner has
 * said who may come, and a code would only tell strangers that a bot lives here.
 */
export function strangersOn(config: Config, platform: ChatPlatform): 'pair' | 'ignore' {
  const block = config[platform];
  const listed = block.allowed_users.length > 0 || config.gateway.allowed_users.length > 0;
  return block.unauthorized_dm_behavior ?? (listed ? 'ignore' : config.unauthorized_dm_behavior);
}
