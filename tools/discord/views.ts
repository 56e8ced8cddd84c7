import { z } from 'zod';

/** What the model is shown of Discord's objects: enough to act on, little to read. */

const user = z.object({
  id: z.string(),
  username: z.string(),
  global_name: z.string().nullish(),
  bot: z.boolean().optional(),
});
const named = (who: z.infer<typeof user>) => ({
  id: who.id,
  name: who.global_name ?? who.username,
  ...(who.bot === true ? { bot: true } : {}),
});

const channelKinds: Readonly<Record<number, string>> = {
  0: 'text', 1: 'dm', 2: 'voice', 4: 'category', 5: 'announcement', 10: 'thread', 11: 'thread', 12: 'private thread',
  13: 'stage', 15: 'forum', 16: 'media',
}; // biome-ignore format: a table

export const channelView = z
  .object({
    id: z.string(),
    type: z.number(),
    name: z.string().nullish(),
    topic: z.string().nullish(),
    parent_id: z.string().nullish(),
  })
  .transform(({ id, type, name, topic, parent_id: parent }) => ({
    id,
    kind: channelKinds[type] ?? `type ${type}`,
    name,
    ...(topic ? { topic } : {}),
    ...(parent ? { parent } : {}),
  }));

export const messageView = z
  .object({
    id: z.string(),
    author: user,
    content: z.string(),
    timestamp: z.string(),
    edited_timestamp: z.string().nullish(),
    attachments: z.array(z.object({ filename: z.string(), size: z.number(), url: z.string() })).default([]),
    reactions: z
      .array(z.object({ count: z.number(), emoji: z.object({ name: z.string().nullable() }) }))
      .default([]),
    referenced_message: z.object({ id: z.string() }).nullish(),
    thread: z.object({ id: z.string() }).optional(),
  })
  .transform((message) => ({
    id: message.id,
    author: named(message.author),
    at: message.timestamp,
    text: message.content,
    ...(message.edited_timestamp ? { edited: true } : {}),
    ...(message.referenced_message ? { reply_to: message.referenced_message.id } : {}),
    ...(message.thread ? { thread: message.thread.id } : {}),
    ...(message.attachments.length > 0 ? { files: message.attachments } : {}),
    ...(message.reactions.length > 0
      ? { reactions: message.reactions.map(({ count, emoji }) => `${emoji.name} ${count}`) }
      : {}),
  }));

export const memberView = z
  .object({ user, nick: z.string().nullish(), roles: z.array(z.string()), joined_at: z.string().nullish() })
  .transform(({ user: who, nick, roles, joined_at: joined }) => ({
    ...named(who),
    ...(nick ? { nick } : {}),
    roles,
    joined,
  }));

export const roleView = z.object({
  id: z.string(),
  name: z.string(),
  position: z.number(),
  managed: z.boolean(),
});
export const serverView = z.object({ id: z.string(), name: z.string() });
export const serverInfoView = z.object({
  id: z.string(),
  name: z.string(),
  owner_id: z.string(),
  approximate_member_count: z.number().optional(),
});
export const pinsView = z
  .object({ items: z.array(z.object({ message: messageView })) })
  .transform(({ items }) => items.map(({ message }) => message));
export const threadsView = z.object({ threads: z.array(channelView) }).transform(({ threads }) => threads);
export const idView = z.object({ id: z.string() });
export const nothing = z.unknown().transform(() => ({ done: true }));
