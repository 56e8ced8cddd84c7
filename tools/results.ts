import { redactSecrets } from '../src/redact.ts';

const maxErrorChars = 2_000;
const maxOwnErrorChars = 2_048;

/** What a failing library may smuggle into an error text: fake turns, fake tool calls, fences, CDATA. */
const fakeMarkup: readonly RegExp[] = [
  /<\/?\s*(?:system|user|assistant|human|tool|function|tool_call|tool_calls|tool_result|function_call|function_results?|invoke|parameter)\b[^<>]{0,200}>/gi,
  /<\|[^|<>]{1,60}\|>/g,
  /<!\[CDATA\[|\]\]>/g,
  /`{3,}[\w-]*/g,
];

/** Makes the text of a thrown error fit for the model: no secret, no fake role or tool tags, at most 2,000 characters. */
export function sanitizeErrorText(text: string): string {
  let clean = redactSecrets(text.slice(0, maxErrorChars * 4));
  for (const shape of fakeMarkup) clean = clean.replace(shape, '');
  return clean.length > maxErrorChars ? `${cutText(clean, maxErrorChars)}…` : clean;
}

/** A failure as the model reads it: `{"error": message, …extra}`. Long messages are capped and say so. */
export function toolError(message: string, extra: Readonly<Record<string, unknown>> = {}): string {
  const error =
    message.length > maxOwnErrorChars ? `${cutText(message, maxOwnErrorChars)} … [truncated]` : message;
  return JSON.stringify({ error, ...extra });
}

/** A success as the model reads it. Undefined fields are left out. */
export function toolResult(value: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(value);
}

/** The first `maxChars` UTF-16 units of a text, never ending in half a character. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? maxChars - 1 : maxChars);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
