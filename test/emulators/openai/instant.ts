import type { ChatRequest, ScriptedReply } from './reply.ts';

/**
 * The script of the measurements: "run X" asks for the terminal tool with X, a tool's result is told back, anything
 * else is answered at once.
 */
export function instantReply(request: ChatRequest): ScriptedReply {
  const last = request.messages.at(-1);
  const said = textOf(last?.content);
  if (last?.role === 'tool') return { text: `The command said: ${said.slice(0, 200)}`, pieceUnits: 400 };
  const command = /(?:^|\n)run (.+)$/.exec(said)?.[1];
  if (command === undefined) return { text: `You said: ${said.slice(0, 200)}`, pieceUnits: 400 };
  return { toolCalls: [{ name: 'terminal', arguments: JSON.stringify({ command }) }], pieceUnits: 400 };
}

/** The plain text of a message's content, which may be a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: string }) => part.text ?? '').join('');
}
