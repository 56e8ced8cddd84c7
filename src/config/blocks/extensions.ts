import { z } from 'zod';
import { block, count, flag, list, positive, seconds, text } from './fields.ts';

export const tools = block({ strict_collisions: flag.default(false) }).prefault({});

export const toolOutput = block({
  max_bytes: positive.default(50_000),
  max_lines: positive.default(2000),
  max_line_length: positive.default(2000),
}).prefault({});

export const toolBudget = block({ mcp_result_size_chars: positive.default(50_000) }).prefault({});

export const limits = block({
  /** Turns that run at one moment; left out, as many as the machine suggests. */
  max_concurrent_sessions: positive.optional(),
  /** Messages that wait behind a running turn of one session. */
  queued_per_session: count.default(20),
}).prefault({});

/** A server's own options are checked by the MCP client. */
export const mcpServers = z.record(text, z.looseObject({})).default({});

export const quickCommands = z
  .record(
    text,
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('exec'), command: text.min(1) }),
      z.strictObject({ type: z.literal('alias'), target: text.min(1) }),
    ]),
  )
  .default({});

export const plugins = block({
  enabled: list.default([]),
  disabled: list.default([]),
  hook_callback_timeout: seconds.default(30),
  entries: z.record(text, z.looseObject({ allow_tool_override: flag.default(false) })).default({}),
}).prefault({});

export const cron = block({
  wrap_response: flag.default(true),
  max_parallel_jobs: positive.optional(),
}).prefault({});
