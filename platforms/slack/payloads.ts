import { z } from 'zod';

const block = z.record(z.string(), z.unknown());

/** What `render` makes and `deliver` takes: JSON only, since it is stored in between. */
export const slackPayload = z.discriminatedUnion('kind', [
  /** A part of an answer, as Slack's Markdown block and, should Slack refuse that, as its older mrkdwn. */
  z.object({ kind: z.literal('text'), markdown: z.string(), mrkdwn: z.string() }),
  /** Blocks with the text that notifications show. */
  z.object({ kind: z.literal('blocks'), text: z.string(), blocks: z.array(block) }),
  z.object({ kind: z.literal('file'), path: z.string(), name: z.string(), comment: z.string().optional() }),
]);

export type SlackPayload = z.infer<typeof slackPayload>;
export type TextPayload = Extract<SlackPayload, { kind: 'text' }>;
export type FilePayload = Extract<SlackPayload, { kind: 'file' }>;
export type Block = z.infer<typeof block>;
