import { z } from 'zod';

// What Slack sends, as far as it is read. Unknown fields are ignored: Slack adds some every month.

export const slackFile = z.object({
  id: z.string(),
  name: z.string().nullish(),
  title: z.string().nullish(),
  mimetype: z.string().nullish(),
  size: z.number().nullish(),
  subtype: z.string().nullish(),
  mode: z.string().nullish(),
  is_external: z.boolean().nullish(),
  url_private: z.string().nullish(),
  url_private_download: z.string().nullish(),
  shares: z.record(z.string(), z.record(z.string(), z.array(z.object({ ts: z.string() })))).nullish(),
});
export type SlackFile = z.infer<typeof slackFile>;

/** A message as events, history and replies show it. */
export const slackMessage = z.object({
  subtype: z.string().optional(),
  user: z.string().optional(),
  bot_id: z.string().nullish(),
  username: z.string().nullish(),
  text: z.string().nullish(),
  ts: z.string(),
  thread_ts: z.string().optional(),
  parent_user_id: z.string().optional(),
  files: z.array(slackFile).nullish(),
  attachments: z.array(z.object({ text: z.string().nullish(), fallback: z.string().nullish() })).nullish(),
  edited: z.object({ ts: z.string() }).nullish(),
  reply_count: z.number().optional(),
  latest_reply: z.string().optional(),
  metadata: z
    .object({ event_type: z.string(), event_payload: z.record(z.string(), z.unknown()).optional() })
    .nullish(),
});
export type SlackMessage = z.infer<typeof slackMessage>;

export const messageEvent = slackMessage.extend({
  type: z.enum(['message', 'app_mention']),
  channel: z.string(),
  channel_type: z.string().optional(),
  /** The new state, in `message_changed`. */
  message: slackMessage.optional(),
  previous_message: slackMessage.optional(),
});
export type MessageEvent = z.infer<typeof messageEvent>;

export const eventBody = z.object({
  team_id: z.string().optional(),
  authorizations: z.array(z.object({ team_id: z.string().nullish() })).optional(),
  event: z.looseObject({ type: z.string() }),
});

export const assistantStarted = z.object({
  assistant_thread: z.object({ channel_id: z.string(), thread_ts: z.string(), user_id: z.string() }),
});

const person = z.object({ id: z.string(), name: z.string().optional(), username: z.string().optional() });
const teamRef = z.object({ id: z.string() }).nullish();

export const blockActions = z.object({
  team: teamRef,
  user: person,
  channel: z.object({ id: z.string(), name: z.string().optional() }),
  message: z.object({ ts: z.string(), thread_ts: z.string().optional() }),
  trigger_id: z.string(),
  response_url: z.string().optional(),
  actions: z
    .array(z.object({ action_id: z.string(), value: z.string().optional(), action_ts: z.string() }))
    .min(1),
});
export type BlockActions = z.infer<typeof blockActions>;

export const viewSubmission = z.object({
  team: teamRef,
  user: person,
  view: z.object({
    id: z.string(),
    callback_id: z.string(),
    private_metadata: z.string(),
    state: z.object({
      values: z.record(z.string(), z.record(z.string(), z.object({ value: z.string().nullish() }))),
    }),
  }),
});

export const slashCommand = z.object({
  team_id: z.string(),
  channel_id: z.string(),
  channel_name: z.string().optional(),
  user_id: z.string(),
  user_name: z.string().optional(),
  command: z.string(),
  text: z.string().default(''),
  trigger_id: z.string(),
  response_url: z.string(),
});

export const isTs = (text: string): boolean => /^\d+\.\d+$/.test(text);

/** Slack timestamps are seconds with six decimals; they are also message ids. */
export function tsToMs(ts: string): number {
  return Math.round(Number(ts) * 1000);
}

/** A timestamp that compares with Slack's, from milliseconds since the epoch. */
export function msToTs(ms: number): string {
  return (ms / 1000).toFixed(6);
}
