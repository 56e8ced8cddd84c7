import { z } from 'zod';
import {
  block,
  choiceWithOff,
  entries,
  flag,
  httpUrl,
  id,
  list,
  onOff,
  port,
  positive,
  seconds,
  text,
} from './fields.ts';

/** What every chat platform has. `enabled` left out means: when there is a token. */
const common = {
  enabled: flag.optional(),
  token: text.default(''),
  api_root: httpUrl.default(''),
  allowed_users: list.default([]),
  admin_users: list.default([]),
  allow_all_users: flag.default(false),
  group_allowed_chats: list.default([]),
  allow_bots: choiceWithOff(['none', 'mentions', 'all'], 'none').default('none'),
  unauthorized_dm_behavior: z.enum(['pair', 'ignore']).optional(),
  home_channel: id.default(''),
  home_channel_name: text.default(''),
  home_channel_thread_id: id.default(''),
  require_mention: flag.default(true),
  reply_to_mode: choiceWithOff(['off', 'first', 'all']).default('first'),
  channel_prompts: z.record(text, text).default({}),
  channel_skill_bindings: z.record(text, list).default({}),
};

export const telegram = block({
  ...common,
  webhook_url: httpUrl.default(''),
  webhook_secret: text.default(''),
  mention_patterns: entries.default([]),
  free_response_chats: list.default([]),
  ignored_threads: list.default([]),
  reactions: flag.default(false),
  disable_link_previews: flag.default(false),
  silent_notifications: flag.default(false),
  pace: onOff.default('on'),
}).prefault({});

export const discord = block({
  ...common,
  allowed_roles: list.default([]),
  allowed_channels: list.default([]),
  ignored_channels: list.default([]),
  no_thread_channels: list.default([]),
  free_response_channels: list.default([]),
  auto_thread: flag.default(true),
  reactions: flag.default(true),
  history_backfill: flag.default(false),
  shards: z.union([z.literal('auto'), positive]).default(1),
  pace: onOff.default('on'),
}).prefault({});

export const slack = block({
  ...common,
  app_token: text.default(''),
  signing_secret: text.default(''),
  allowed_channels: list.default([]),
  free_response_channels: list.default([]),
  strict_mention: flag.default(false),
  reply_in_thread: flag.default(true),
  reply_broadcast: flag.default(false),
  reactions: flag.default(true),
  ping_timeout: seconds.default(15),
  pace: onOff.default('on'),
}).prefault({});

export const web = block({ enabled: flag.default(true) }).prefault({});

/** The HTTP server, and what holds for all platforms. */
export const gateway = block({
  host: text.default('127.0.0.1'),
  port: port.default(8642),
  token: text.default(''),
  allowed_users: list.default([]),
  allow_all_users: flag.default(false),
}).prefault({});
