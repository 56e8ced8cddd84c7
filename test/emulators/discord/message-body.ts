import { z } from 'zod';
import { refusals } from './route.ts';
import type { World } from './world.ts';

/** The rules on messages that Discord enforces beyond what its OpenAPI description says. */

const button = z.looseObject({
  type: z.literal(2),
  style: z.number().int().min(1).max(6),
  custom_id: z.string().min(1).max(100).optional(),
  label: z.string().max(80).optional(),
  url: z.string().optional(),
});
const select = z.looseObject({
  type: z.literal(3),
  custom_id: z.string().min(1).max(100),
  placeholder: z.string().max(150).optional(),
  options: z
    .array(z.looseObject({ label: z.string().min(1).max(100), value: z.string().min(1).max(100) }))
    .min(1)
    .max(25),
});
export const actionRow = z.looseObject({
  type: z.literal(1),
  components: z
    .array(z.discriminatedUnion('type', [button, select]))
    .min(1)
    .max(5)
    .refine(
      (all) => all.length === 1 || all.every(({ type }) => type === 2),
      'a select needs a row of its own',
    ),
});

const embed = z.looseObject({
  title: z.string().optional(),
  description: z.string().optional(),
  footer: z.looseObject({ text: z.string().min(1).max(2048) }).optional(),
  fields: z
    .array(z.looseObject({ name: z.string().min(1).max(256), value: z.string().min(1).max(1024) }))
    .optional(),
});

export const messageBody = z.looseObject({
  content: z.string().nullish(),
  embeds: z.array(embed).nullish(),
  components: z.array(actionRow).max(5).nullish(),
  flags: z.number().int().nullish(),
  nonce: z.union([z.string(), z.number()]).nullish(),
  enforce_nonce: z.boolean().nullish(),
  allowed_mentions: z
    .looseObject({
      parse: z.array(z.string()).optional(),
      users: z.array(z.string()).optional(),
      roles: z.array(z.string()).optional(),
      replied_user: z.boolean().optional(),
    })
    .nullish(),
  message_reference: z
    .looseObject({
      message_id: z.string(),
      channel_id: z.string().optional(),
      fail_if_not_exists: z.boolean().optional(),
    })
    .nullish(),
  attachments: z.array(z.looseObject({ id: z.union([z.string(), z.number()]) })).nullish(),
});
export type MessageBody = z.infer<typeof messageBody>;

/** Refuses what Discord refuses; `empty` says whether a message without anything is fine (an edit). */
export function checkMessage(body: MessageBody, fileCount: number, empty: boolean): void {
  const { content, embeds, components } = body;
  // discord.com/developers/docs/resources/message: 2000 for bots, though the schema says 4000.
  if ([...(content ?? '')].length > 2000)
    throw refusals.invalidForm('content: Must be 2000 or fewer in length.');
  const embedLength = (embeds ?? []).reduce(
    (sum, { title = '', description = '', footer, fields = [] }) =>
      sum +
      [title, description, footer?.text ?? '', ...fields.flatMap(({ name, value }) => [name, value])].join('')
        .length,
    0,
  );
  if (embedLength > 6000) throw refusals.invalidForm('embeds: Embed size exceeds maximum size of 6000');
  const rows = (components ?? []).flatMap((row) => row.components);
  const ids = rows.flatMap((component) => component.custom_id ?? []);
  if (new Set(ids).size < ids.length)
    throw refusals.invalidForm('components: Component custom id cannot be duplicated');
  for (const component of rows) {
    if (component.type === 2 && component.style < 5 && component.custom_id === undefined) {
      throw refusals.invalidForm('components: A custom id is required');
    }
  }
  const nothing = !content?.trim() && !embeds?.length && !components?.length && fileCount === 0;
  if (nothing && !empty) throw refusals.invalidForm('Cannot send an empty message');
}

/** Who the text would notify. Without `allowed_mentions` everyone whom the text names. */
export function pings(body: MessageBody, world: World, repliedTo: string | undefined): string[] {
  const content = body.content ?? '';
  const allowed = body.allowed_mentions;
  const parse =
    allowed?.parse ?? (allowed === undefined || allowed === null ? ['everyone', 'users', 'roles'] : []);
  const users = [...content.matchAll(/<@!?(\d+)>/g)].flatMap(([, id]) => id ?? []);
  const roles = [...content.matchAll(/<@&(\d+)>/g)].flatMap(([, id]) => id ?? []);
  return [
    ...(parse.includes('everyone') && /@(everyone|here)\b/.test(content) ? ['everyone'] : []),
    ...users.filter((id) => parse.includes('users') || allowed?.users?.includes(id)),
    ...roles.filter((id) => parse.includes('roles') || allowed?.roles?.includes(id)),
    ...(repliedTo !== undefined && allowed?.replied_user !== false && repliedTo !== world.bot.id
      ? [repliedTo]
      : []),
  ];
}
