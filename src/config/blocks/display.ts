import { z } from 'zod';
import { block, choiceWithOff, count, flag, list, seconds, text } from './fields.ts';

/** What may also be set for one platform alone. */
const perPlatform = {
  tool_progress: choiceWithOff(['off', 'new', 'all', 'verbose'], 'off', 'all'),
  busy_input_mode: z.enum(['interrupt', 'queue', 'steer']),
  busy_ack_enabled: flag,
  background_process_notifications: choiceWithOff(['all', 'result', 'error', 'off'], 'off', 'all'),
  interim_assistant_messages: flag,
  show_reasoning: flag,
  max_messages: count,
  language: text,
};

export const display = block({
  tool_progress: perPlatform.tool_progress.default('all'),
  tool_progress_command: flag.default(false),
  busy_input_mode: perPlatform.busy_input_mode.default('interrupt'),
  busy_ack_enabled: flag.default(true),
  background_process_notifications: perPlatform.background_process_notifications.default('all'),
  interim_assistant_messages: flag.default(true),
  show_reasoning: flag.default(false),
  max_messages: count.default(8),
  language: text.default('auto'),
  platforms: z.record(text, block(perPlatform).partial()).default({}),
}).prefault({});

export const streaming = block({
  enabled: flag.default(true),
  transport: choiceWithOff(['auto', 'edit', 'draft', 'off']).default('auto'),
  edit_interval: seconds.default(0.8),
  buffer_threshold: count.default(24),
  cursor: text.default(' ▉'),
  fresh_final_after_seconds: seconds.default(0),
}).prefault({});

const hour = z.number().int().min(0).max(23);
const resetMode = choiceWithOff(['both', 'daily', 'idle', 'none'], 'none');
const resetOverride = block({
  mode: resetMode,
  at_hour: hour,
  idle_minutes: z.number().int().min(1),
}).partial();

export const sessionReset = block({
  mode: resetMode.default('both'),
  at_hour: hour.default(4),
  idle_minutes: z.number().int().min(1).default(1440),
  notify: flag.default(true),
  bg_process_max_age_hours: seconds.default(24),
}).prefault({});

export const resetByType = z
  .partialRecord(z.enum(['dm', 'group', 'channel', 'thread']), resetOverride)
  .default({});
export const resetByPlatform = z.record(text, resetOverride).default({});

export const voice = {
  stt: block({ enabled: flag.default(true), provider: text.default('local') }).prefault({}),
  tts: block({ provider: text.default('edge') }).prefault({}),
  voice: block({ auto_tts: flag.default(false) }).prefault({}),
};

export const platformToolsets = z.record(text, list).default({});
