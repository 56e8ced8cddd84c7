import { z } from 'zod';

// Block Kit as far as a bot sends it, with Slack's own limits. docs.slack.dev/reference/block-kit

const plain = (max: number) =>
  z.strictObject({
    type: z.literal('plain_text'),
    text: z.string().min(1).max(max),
    emoji: z.boolean().optional(),
  });

/** `<`, `>` and `&` start Slack's own syntax: what a bot sends must be escaped or be one of the known forms. */
const mrkdwnText = (max: number) =>
  z.strictObject({
    type: z.literal('mrkdwn'),
    text: z.string().min(1).max(max),
    verbatim: z.boolean().optional(),
  });

const anyText = (max: number) => z.union([plain(max), mrkdwnText(max)]);

const blockId = z.string().min(1).max(255).optional();

const confirm = z.strictObject({
  title: plain(100),
  text: plain(300),
  confirm: plain(30),
  deny: plain(30),
  style: z.enum(['primary', 'danger']).optional(),
});

export const buttonElement = z.strictObject({
  type: z.literal('button'),
  text: plain(75),
  action_id: z.string().min(1).max(255),
  value: z.string().max(2000).optional(),
  style: z.enum(['primary', 'danger']).optional(),
  confirm: confirm.optional(),
});

const richStyle = z
  .strictObject({
    bold: z.boolean().optional(),
    italic: z.boolean().optional(),
    strike: z.boolean().optional(),
    code: z.boolean().optional(),
    underline: z.boolean().optional(),
  })
  .optional();

const richElement = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().min(1), style: richStyle }),
  z.strictObject({
    type: z.literal('link'),
    url: z.string().min(1),
    text: z.string().optional(),
    style: richStyle,
  }),
  z.strictObject({ type: z.literal('emoji'), name: z.string().min(1) }),
]);

const richBlock = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('rich_text_section'), elements: z.array(richElement).min(1) }),
  z.strictObject({
    type: z.literal('rich_text_preformatted'),
    elements: z.array(richElement).min(1),
    border: z.number().optional(),
  }),
]);

const messageBlock = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('markdown'), text: z.string().min(1).max(12_000), block_id: blockId }),
  z.strictObject({
    type: z.literal('section'),
    text: anyText(3000).optional(),
    fields: z.array(anyText(2000)).min(1).max(10).optional(),
    block_id: blockId,
    expand: z.boolean().optional(),
  }),
  z.strictObject({ type: z.literal('header'), text: plain(150), block_id: blockId }),
  z.strictObject({
    type: z.literal('context'),
    elements: z.array(anyText(3000)).min(1).max(10),
    block_id: blockId,
  }),
  z.strictObject({ type: z.literal('divider'), block_id: blockId }),
  z.strictObject({
    type: z.literal('actions'),
    elements: z.array(buttonElement).min(1).max(25),
    block_id: blockId,
  }),
  z.strictObject({ type: z.literal('rich_text'), elements: z.array(richBlock).min(1), block_id: blockId }),
]);

export const messageBlocks = z
  .array(messageBlock)
  .max(50)
  .refine((blocks) => new Set(actionIds(blocks)).size === actionIds(blocks).length, 'duplicate action_id')
  .refine(
    (blocks) =>
      blocks.reduce((sum, block) => sum + (block.type === 'markdown' ? block.text.length : 0), 0) <= 12_000,
    'markdown blocks hold more than 12,000 characters in all',
  );

function actionIds(blocks: readonly z.infer<typeof messageBlock>[]): string[] {
  return blocks.flatMap((block) =>
    block.type === 'actions' ? block.elements.map((button) => button.action_id) : [],
  );
}

export const modalView = z.strictObject({
  type: z.literal('modal'),
  callback_id: z.string().max(255).optional(),
  title: plain(24),
  submit: plain(24).optional(),
  close: plain(24).optional(),
  private_metadata: z.string().max(3000).optional(),
  notify_on_close: z.boolean().optional(),
  blocks: z
    .array(
      z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('section'), text: anyText(3000), block_id: blockId }),
        z.strictObject({
          type: z.literal('input'),
          block_id: blockId,
          label: plain(2000),
          optional: z.boolean().optional(),
          element: z.strictObject({
            type: z.literal('plain_text_input'),
            action_id: z.string().min(1).max(255),
            multiline: z.boolean().optional(),
            max_length: z.number().min(1).max(3000).optional(),
            placeholder: plain(150).optional(),
          }),
        }),
      ]),
    )
    .min(1)
    .max(100),
});

const pingForms = /<(?:!(?:channel|here|everyone|subteam\^)|@[UWB][A-Z0-9]+)/;

/** Texts of a message that Slack would parse for mentions; `rich_text` is literal and not among them. */
function parsedTexts(text: string, blocks: readonly Record<string, unknown>[]): string[] {
  const texts = [text];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) return void value.map(walk);
    const record = Object.fromEntries(Object.entries(value));
    if ((record.type === 'mrkdwn' || record.type === 'markdown') && typeof record.text === 'string')
      texts.push(record.text);
    if (record.type === 'rich_text') return;
    Object.values(record).map(walk);
  };
  walk(blocks);
  return texts;
}

/** Whether the message would notify somebody. */
export function pings(text: string, blocks: readonly Record<string, unknown>[]): boolean {
  return parsedTexts(text, blocks).some((part) => pingForms.test(part));
}
