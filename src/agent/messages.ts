import type { ChatMessage, ContentPart } from '../model/model-client.ts';
import type { Entry } from '../store/entries.ts';

/** Roughly four characters a token: enough to keep clear of the window, not to count a bill. */
const charsPerToken = 4;
/** The share of the window that a conversation may fill before old tool results are cut. */
const fillLimit = 0.7;
const prunedResult = '[An old tool result was left out to save room. Run the tool again if you need it.]';
/** The newest entries are never cut. */
const protectedTail = 20;

/**
 * The transcript in the shape that providers insist on: user and assistant alternate, every tool call has exactly
 * one result right after it, nothing is empty.
 */
export function toMessages(
  systemPrompt: string,
  entries: readonly Entry[],
  contextTokens: number,
): ChatMessage[] {
  const messages: ChatMessage[] = [{ role: 'system', content: systemPrompt }];
  const fitted = fitEntries(entries, contextTokens);
  const results = new Map(
    fitted.flatMap((entry) => (entry.kind === 'tool' ? [[entry.callId, entry.content]] : [])),
  );
  for (const entry of fitted) {
    if (entry.kind === 'user')
      addUser(messages, entry.parts ? [...textPart(entry.text), ...entry.parts] : entry.text);
    else if (entry.kind === 'note') addUser(messages, `[${entry.text}]`);
    else if (entry.kind === 'assistant') addAssistant(messages, entry, results);
  }
  return messages;
}

function addAssistant(
  messages: ChatMessage[],
  entry: Extract<Entry, { kind: 'assistant' }>,
  results: ReadonlyMap<string, string>,
): void {
  const text = entry.outcome === 'interrupted' && entry.text === '' ? '(interrupted)' : entry.text;
  if (text === '' && entry.toolCalls.length === 0) return;
  messages.push({ role: 'assistant', content: text, toolCalls: entry.toolCalls });
  for (const call of entry.toolCalls) {
    messages.push({
      role: 'tool',
      toolCallId: call.id,
      content: results.get(call.id) ?? '{"error":"No result."}',
    });
  }
}

/** Adjacent user messages become one, since some providers refuse two in a row. */
function addUser(messages: ChatMessage[], content: string | readonly ContentPart[]): void {
  const last = messages.at(-1);
  if (last?.role !== 'user') {
    messages.push({ role: 'user', content });
    return;
  }
  messages.pop();
  const bothText = typeof last.content === 'string' && typeof content === 'string';
  const joined = bothText ? `${last.content}\n\n${content}` : [...asParts(last.content), ...asParts(content)];
  messages.push({ role: 'user', content: joined });
}

function asParts(content: string | readonly ContentPart[]): readonly ContentPart[] {
  return typeof content === 'string' ? textPart(content) : content;
}

function textPart(text: string): ContentPart[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

/**
 * Keeps the conversation within the window: old tool results are cut first; if that is not enough, whole turns from
 * the start are dropped, never a call without its result.
 */
function fitEntries(entries: readonly Entry[], contextTokens: number): readonly Entry[] {
  const budget = contextTokens * fillLimit * charsPerToken;
  if (sizeOf(entries) <= budget) return entries;
  const cutBefore = entries.length - protectedTail;
  const pruned = entries.map((entry, index) =>
    entry.kind === 'tool' && index < cutBefore && entry.content.length > 500
      ? { ...entry, content: prunedResult }
      : entry,
  );
  let start = 0;
  while (sizeOf(pruned.slice(start)) > budget) {
    const next = pruned.findIndex((entry, index) => index > start && entry.kind === 'user');
    if (next === -1) break;
    start = next;
  }
  return start === 0 ? pruned : [droppedNote(pruned), ...pruned.slice(start)];
}

function droppedNote(entries: readonly Entry[]): Entry {
  const first = entries[0];
  return {
    kind: 'note',
    text: 'The beginning of this conversation was left out to save room.',
    id: 0,
    sessionId: first?.sessionId ?? '',
    at: first?.at ?? 0,
  };
}

function sizeOf(entries: readonly Entry[]): number {
  let size = 0;
  for (const entry of entries) {
    if (entry.kind === 'tool') size += entry.content.length;
    else size += entry.text.length;
    if (entry.kind === 'assistant') for (const call of entry.toolCalls) size += call.arguments.length;
    if (entry.kind === 'user')
      for (const part of entry.parts ?? []) size += part.type === 'image' ? 4_000 : part.text.length;
  }
  return size;
}
