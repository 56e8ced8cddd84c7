import { delimiter } from 'node:path';
import type { ToolConfig } from '../../../tools/tool.ts';
import type { Config } from '../../config/schema.ts';

/** The part of the configuration that tools read, in their units. */
export function toolConfigOf(config: Config): ToolConfig {
  return {
    terminal: {
      timeoutMs: config.terminal.timeout * 1000,
      maxForegroundTimeoutMs: config.terminal.max_foreground_timeout * 1000,
    },
    toolOutput: {
      maxBytes: config.tool_output.max_bytes,
      maxLines: config.tool_output.max_lines,
      maxLineLength: config.tool_output.max_line_length,
    },
    memory: {
      enabled: config.memory.memory_enabled,
      userProfileEnabled: config.memory.user_profile_enabled,
      memoryChars: config.memory.memory_char_limit,
      userChars: config.memory.user_char_limit,
    },
    writeSafeRoots: (process.env['HERMES_WRITE_SAFE_ROOT'] ?? '')
      .split(delimiter)
      .filter((root) => root !== ''),
  };
}
