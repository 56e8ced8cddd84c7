import { textOf } from '../../emulators/openai/instant.ts';
import type { ChatRequest, ScriptedReply } from '../../emulators/openai/reply.ts';

/**
 * What the model of the scenario says when nothing else was told: "run `X`" asks for the terminal tool with X, its
 * result is told back, anything else is repeated.
 */
export function scriptedReply(request: ChatRequest): ScriptedReply {
  const last = request.messages.at(-1);
  const said = textOf(last?.content);
  if (last?.role === 'tool') return { text: `The command said: ${said}`, pieceUnits: 400 };
  const command = /run `(.+)`/.exec(said)?.[1];
  if (command === undefined) return { text: `You said: ${said}`, pieceUnits: 400 };
  return { toolCalls: [{ name: 'terminal', arguments: JSON.stringify({ command }) }], pieceUnits: 400 };
}
