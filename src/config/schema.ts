import { z } from 'zod';
import * as agent from './blocks/agent.ts';
import * as display from './blocks/display.ts';
import * as extensions from './blocks/extensions.ts';
import { choiceWithOff, entries, flag, list, text } from './blocks/fields.ts';
import * as platforms from './blocks/platforms.ts';
import * as safety from './blocks/safety.ts';
import { terminal } from './blocks/terminal.ts';

/**
 * Every key of `config.yaml`, spelled as in the file, with its default. `config.example.yaml` shows the same keys;
 * a test compares the two. Times are in seconds unless a name says otherwise.
 */
export const configSchema = z.strictObject({
  model: agent.model,
  fallback_providers: agent.fallbackProviders,
  auxiliary: agent.auxiliary,
  agent: agent.agent,
  delegation: agent.delegation,
  compression: agent.compression,
  memory: agent.memory,
  code_execution: agent.codeExecution,

  toolsets: list.default(['hermes-cli']),
  platform_toolsets: display.platformToolsets,
  tools: extensions.tools,
  tool_output: extensions.toolOutput,
  tool_budget: extensions.toolBudget,
  tool_search: agent.toolSearch,
  limits: extensions.limits,

  approvals: safety.approvals,
  command_allowlist: entries.default([]),
  security: safety.security,
  terminal,

  telegram: platforms.telegram,
  discord: platforms.discord,
  slack: platforms.slack,
  web: platforms.web,
  gateway: platforms.gateway,
  unauthorized_dm_behavior: z.enum(['pair', 'ignore']).default('pair'),

  session_reset: display.sessionReset,
  reset_by_type: display.resetByType,
  reset_by_platform: display.resetByPlatform,
  group_sessions_per_user: flag.default(true),
  thread_sessions_per_user: flag.default(false),
  edits: choiceWithOff(['ignore', 'rerun'], 'ignore').default('ignore'),

  display: display.display,
  streaming: display.streaming,
  ...display.voice,

  mcp_servers: extensions.mcpServers,
  quick_commands: extensions.quickCommands,
  plugins: extensions.plugins,
  cron: extensions.cron,

  redis_url: text.default(''),
  database_url: text.default(''),
  log_level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

export type Config = z.infer<typeof configSchema>;

/** Keys that moved: old path, new path. The old one still works and is warned about. */
export const RENAMED_KEYS: readonly (readonly [string, string])[] = [
  ['approvals.gateway_timeout', 'approvals.timeout'],
  ['max_concurrent_sessions', 'limits.max_concurrent_sessions'],
];

/** Whether the value at this dotted path must never be shown. */
export function isSecretKey(path: string): boolean {
  return /(^|[._-])(token|secret|api[_-]?key|password|passphrase|authorization|redis_url|database_url|docker_env)(\.|$)/i.test(
    path,
  );
}
