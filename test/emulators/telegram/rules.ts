import { z } from 'zod';
import { checkTelegramHtml } from './html.ts';
import { badRequest, type Fields } from './wire.ts';

const button = z
  .strictObject({
    text: z.string().min(1),
    callback_data: z.string().optional(),
    url: z.string().optional(),
    style: z.enum(['danger', 'success', 'primary']).optional(),
  })
  .refine(
    ({ callback_data: data, url }) => (data === undefined) !== (url === undefined),
    'one of callback_data and url',
  )
  .refine(
    ({ callback_data: data = 'x' }) => data !== '' && Buffer.byteLength(data) <= 64,
    'BUTTON_DATA_INVALID',
  );
const keyboard = z.strictObject({ inline_keyboard: z.array(z.array(button).min(1).max(8)).max(100) });
export type Keyboard = z.infer<typeof keyboard>['inline_keyboard'];

/** The keyboard of a call; none when absent or empty, as both take it away. */
export function readKeyboard({ reply_markup: markup }: Fields): Keyboard {
  if (markup === undefined) return [];
  const read = keyboard.safeParse(markup);
  if (!read.success) throw badRequest(`can't parse inline keyboard: ${read.error.issues[0]?.message}`);
  return read.data.inline_keyboard;
}

/** What the user will see of a text with its markup read; refused as Telegram refuses it. */
export function readText(text: unknown, parseMode: unknown, limit: number, name = 'message'): string {
  if (typeof text !== 'string' || text.trim() === '') throw badRequest(`${name} text is empty`);
  if (!text.isWellFormed()) throw badRequest('strings must be encoded in UTF-8');
  if (parseMode !== undefined && parseMode !== 'HTML') throw badRequest(`unsupported parse_mode`);
  const shown = parseMode === 'HTML' ? checkTelegramHtml(text) : { text };
  if (shown.text === undefined) throw badRequest(shown.error.replace(/^Bad Request: /, ''));
  if (shown.text.trim() === '') throw badRequest(`${name} text is empty`);
  if (shown.text.length > limit) throw badRequest(`${name} is too long`);
  return shown.text;
}

const rich = z.strictObject({
  markdown: z.string().optional(),
  html: z.string().optional(),
  is_rtl: z.boolean().optional(),
  skip_entity_detection: z.boolean().optional(),
});

/** Bot API: rich message limits. */
export function readRich(message: unknown): string {
  const read = rich.safeParse(message);
  const source = read.data?.markdown ?? read.data?.html ?? '';
  if (!read.success || (read.data.markdown === undefined) === (read.data.html === undefined)) {
    throw badRequest('exactly one of html and markdown must be used');
  }
  if (source.trim() === '') throw badRequest('message text is empty');
  if (Buffer.byteLength(source) > 4 * 32_768 || source.length > 32_768)
    throw badRequest('message is too long');
  if (!source.isWellFormed()) throw badRequest('strings must be encoded in UTF-8');
  return source;
}
