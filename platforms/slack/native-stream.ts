import { z } from 'zod';
import { anyAnswer, type CallArgs, type SlackApi } from './api.ts';
import { slackCode } from './errors.ts';

const started = z.object({ ts: z.string() });

/** Answers that mean: no native stream in this place. docs.slack.dev/reference/methods/chat.startStream */
const noStream: ReadonlySet<string | undefined> = new Set([
  'unknown_method',
  'method_not_supported_for_channel_type',
  'channel_type_not_supported',
  'missing_recipient_user_id',
  'missing_recipient_team_id',
  'feature_not_enabled',
  'not_allowed_token_type',
  'invalid_arguments',
]);

/** Begins a native stream and returns its message's `ts`; undefined where Slack has none. */
export async function openStream(
  api: SlackApi,
  place: CallArgs,
  markdown: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return (await api.send(started, 'chat.startStream', { ...place, markdown_text: markdown }, signal)).ts;
  } catch (error) {
    if (noStream.has(slackCode(error))) return undefined;
    throw error;
  }
}

/** Ends a native stream, so that its message can be edited like any other. */
export async function endStream(api: SlackApi, place: CallArgs, signal?: AbortSignal): Promise<void> {
  try {
    await api.call(anyAnswer, 'chat.stopStream', place, signal);
  } catch (error) {
    // Slack ends streams by itself after a while.
    if (slackCode(error) !== 'message_not_in_streaming_state') throw error;
  }
}
