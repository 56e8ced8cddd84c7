import { z } from 'zod';
import {
  block,
  choiceWithOff,
  count,
  flag,
  httpUrl,
  list,
  positive,
  seconds,
  share,
  text,
} from './fields.ts';

const connection = {
  base_url: httpUrl.default(''),
  api_key: text.default(''),
};

/** A model name alone, or a block. */
function named<T extends z.ZodType>(key: string, schema: T) {
  return z.preprocess((value) => (typeof value === 'string' ? { [key]: value } : value), schema);
}

export const model = named(
  'name',
  block({
    name: text.default(''),
    ...connection,
    context_tokens: positive.optional(),
    max_tokens: positive.optional(),
    temperature: z.number().min(0).max(2).optional(),
    request_timeout: seconds.default(1800),
    stream_read_timeout: seconds.default(120),
    stream_stale_timeout: seconds.default(180),
    stall_timeout: seconds.default(90),
  }),
).prefault({});

/** Tried in order when the one before is overloaded or gone. A key is never sent to another provider's address. */
export const fallbackProviders = z
  .array(named('model', block({ model: text.min(1), ...connection, context_tokens: positive.optional() })))
  .default([]);

const aside = block({ model: text.default(''), ...connection, timeout: seconds.default(60) }).prefault({});

export const auxiliary = block({
  approval: aside,
  compression: aside,
  vision: aside,
  web_extract: aside,
}).prefault({});

export const agent = block({
  max_turns: positive.default(90),
  api_max_retries: count.default(3),
  disabled_toolsets: list.default([]),
  restart_drain_timeout: seconds.default(60),
  gateway_timeout: seconds.default(1800),
  gateway_timeout_warning: seconds.default(900),
  run_budget_seconds: seconds.default(0),
  system_prompt: text.default(''),
}).prefault({});

export const delegation = block({
  max_iterations: positive.default(50),
  max_concurrent_children: positive.default(3),
  max_spawn_depth: count.default(1),
  subagent_auto_approve: flag.default(false),
  model: text.default(''),
}).prefault({});

export const compression = block({
  enabled: flag.default(true),
  threshold: share.default(0.5),
  target_ratio: share.default(0.2),
  protect_first_n: count.default(3),
  protect_last_n: count.default(20),
}).prefault({});

export const memory = block({
  memory_enabled: flag.default(true),
  user_profile_enabled: flag.default(true),
  memory_char_limit: positive.default(2200),
  user_char_limit: positive.default(1375),
  nudge_interval: count.default(10),
}).prefault({});

export const codeExecution = block({
  mode: z.enum(['project', 'strict']).default('project'),
  timeout: seconds.default(300),
  max_tool_calls: count.default(50),
}).prefault({});

export const toolSearch = block({
  enabled: choiceWithOff(['auto', 'on', 'off'], 'off', 'on').default('auto'),
  threshold_pct: z.number().min(0).max(100).default(10),
}).prefault({});
