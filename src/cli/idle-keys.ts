import type { LoadedConfig } from '../config/load.ts';

/**
 * Keys, and blocks of keys, that are known and checked but that nothing reads yet. Whoever sets one is told, rather
 * than left to trust it. Building what a key stands for takes its line away here and its "no effect yet" in
 * `config.example.yaml`; a test holds the two together.
 */
export const idleKeys: readonly string[] = [
  'agent.gateway_timeout_warning',
  'agent.run_budget_seconds',
  'approvals.cron_mode',
  'approvals.denial_breaker_threshold',
  'approvals.destructive_slash_confirm',
  'auxiliary',
  'code_execution',
  'compression',
  'cron',
  'database_url',
  'delegation',
  'discord.history_backfill',
  'display.background_process_notifications',
  'display.show_reasoning',
  'display.tool_progress_command',
  'edits',
  'mcp_servers',
  'memory.nudge_interval',
  'plugins',
  'quick_commands',
  'redis_url',
  'security.allow_private_urls',
  'security.redact_secrets',
  'security.website_blocklist',
  'session_reset.bg_process_max_age_hours',
  'streaming.fresh_final_after_seconds',
  'stt',
  'terminal.oneshot_completion_wait_seconds',
  'terminal.persistent_shell',
  'tool_budget',
  'tool_search',
  'tts',
  'voice',
  ...['telegram', 'discord', 'slack'].flatMap((platform) =>
    ['channel_prompts', 'channel_skill_bindings', 'home_channel_name', 'reply_to_mode'].map(
      (key) => `${platform}.${key}`,
    ),
  ),
];

const isIdle = (path: string): boolean => idleKeys.some((key) => path === key || path.startsWith(`${key}.`));

/** Variables that Hermes Agent reads, with why they do nothing here. */
const idleVariables: Readonly<Record<string, string>> = {
  SUDO_PASSWORD:
    'a password on the standard input of a command can be read by that command. Let the user run what it needs without one (NOPASSWD in sudoers).',
};

/** A sentence for each setting that will do nothing, with where it was made. */
export function idleSettings({ sources, env }: Pick<LoadedConfig, 'sources' | 'env'>): string[] {
  const keys = Object.entries(sources)
    .filter(([path]) => isIdle(path))
    .map(([path, source]) => `${path} (${source}) has no effect: what it stands for is not built in yet.`);
  const variables = Object.entries(idleVariables)
    .filter(([name]) => env[name])
    .map(([name, why]) => `${name} has no effect: ${why}`);
  return [...keys, ...variables];
}
