import { z } from 'zod';

/** The parts of Discord's objects that the adapter reads. discord.com/developers/docs/resources */

const snowflake = z.string().regex(/^\d{1,20}$/);

/** discord.com/developers/docs/resources/channel#channel-object-channel-types */
export const channelType = {
  text: 0, dm: 1, voice: 2, groupDm: 3, announcement: 5, announcementThread: 10, publicThread: 11, privateThread: 12,
  stage: 13, forum: 15, media: 16,
} as const; // biome-ignore format: a table

export const messageFlag = {
  suppressEmbeds: 1 << 2,
  ephemeral: 1 << 6,
  silent: 1 << 12,
  voice: 1 << 13,
} as const;

export const userShape = z.object({
  id: snowflake,
  username: z.string(),
  global_name: z.string().nullish(),
  bot: z.boolean().optional(),
});

export const memberShape = z.object({ nick: z.string().nullish(), roles: z.array(snowflake) });

export const channelShape = z.object({
  id: snowflake,
  type: z.number().int(),
  guild_id: snowflake.optional(),
  name: z.string().nullish(),
  parent_id: snowflake.nullish(),
  owner_id: snowflake.nullish(),
});

const attachmentShape = z.object({
  id: snowflake,
  filename: z.string(),
  size: z.number(),
  url: z.string(),
  content_type: z.string().nullish(),
});

const contentShape = z.object({
  content: z.string().default(''),
  attachments: z.array(attachmentShape).default([]),
});

const referenceShape = z.object({ message_id: snowflake.optional() }).optional();

export const messageShape = contentShape.extend({
  id: snowflake,
  channel_id: snowflake,
  guild_id: snowflake.optional(),
  type: z.number().int(),
  flags: z.number().int().default(0),
  author: userShape,
  member: memberShape.partial().optional(),
  webhook_id: snowflake.optional(),
  application_id: snowflake.optional(),
  timestamp: z.string(),
  edited_timestamp: z.string().nullish(),
  mentions: z.array(userShape).default([]),
  mention_roles: z.array(snowflake).default([]),
  sticker_items: z.array(z.object({ id: snowflake, name: z.string(), format_type: z.number() })).optional(),
  referenced_message: contentShape
    .extend({ id: snowflake, author: userShape, message_reference: referenceShape })
    .nullish(),
  /** Forwarded messages. */
  message_snapshots: z.array(z.object({ message: contentShape })).optional(),
  embeds: z.array(z.unknown()).default([]),
  components: z.array(z.unknown()).default([]),
  reactions: z
    .array(
      z.object({
        me: z.boolean(),
        emoji: z.object({ id: z.string().nullable(), name: z.string().nullable() }),
      }),
    )
    .optional(),
  thread: channelShape.optional(),
});
export type WireMessage = z.infer<typeof messageShape>;

const interactionBase = z.object({
  id: snowflake,
  application_id: snowflake,
  token: z.string(),
  channel_id: snowflake,
  guild_id: snowflake.optional(),
  channel: channelShape.optional(),
  locale: z.string().optional(),
  user: userShape.optional(),
  member: memberShape.extend({ user: userShape }).optional(),
  message: z.object({ id: snowflake, message_reference: referenceShape }).optional(),
});

const textInput = z.object({ custom_id: z.string(), value: z.string() });

export const interactionShape = z.discriminatedUnion('type', [
  interactionBase.extend({
    type: z.literal(2),
    data: z.object({
      name: z.string(),
      options: z
        .array(z.object({ value: z.union([z.string(), z.number(), z.boolean()]).optional() }))
        .optional(),
    }),
  }),
  interactionBase.extend({
    type: z.literal(3),
    data: z.object({ custom_id: z.string(), values: z.array(z.string()).optional() }),
  }),
  interactionBase.extend({
    type: z.literal(5),
    data: z.object({
      custom_id: z.string(),
      components: z.array(
        z.object({ component: textInput.optional(), components: z.array(textInput).optional() }),
      ),
    }),
  }),
]);
export type WireInteraction = z.infer<typeof interactionShape>;
export type CommandInteraction = Extract<WireInteraction, { type: 2 }>;
export type ComponentInteraction = Extract<WireInteraction, { type: 3 }>;
export type ModalInteraction = Extract<WireInteraction, { type: 5 }>;
