import type { ContentPart, ToolCall } from '../model/model-client.ts';

/**
 * One entry of a transcript. Append-only and ordered: together with `tool_runs` and `approvals` it is the program
 * counter of the session's turn.
 */
export type EntryBody =
  | { kind: 'user'; text: string; parts?: readonly ContentPart[]; messageId?: string }
  | {
      kind: 'assistant';
      text: string;
      toolCalls: readonly ToolCall[];
      model: string;
      outcome?: 'interrupted' | 'failed';
    }
  | { kind: 'tool'; callId: string; tool: string; content: string }
  /** Context for the model that no person wrote: a restart, a notice, a superseded question. */
  | { kind: 'note'; text: string };

export type Entry = EntryBody & { id: number; sessionId: string; at: number };

export interface EntryMatch {
  sessionId: string;
  sessionKey: string;
  kind: Entry['kind'];
  at: number;
  /** The text around the hit, hits between « and ». */
  snippet: string;
  /** The first user message of the transcript. */
  title: string;
}

export interface EntryTable {
  append(sessionId: string, body: EntryBody, at: number): Promise<number>;
  /** In order, without those hidden by /undo. */
  list(sessionId: string): Promise<readonly Entry[]>;
  /** Ids of the tool calls within hidden entries: they stay taken. */
  hiddenCallIds(sessionId: string): Promise<ReadonlySet<string>>;
  /** Hides this entry and all that follow (/undo, /retry). */
  hideFrom(sessionId: string, entryId: number): Promise<void>;
  search(
    query: string,
    options: { limit: number; kinds?: readonly Entry['kind'][]; userId?: string },
  ): Promise<readonly EntryMatch[]>;
}
