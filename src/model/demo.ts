import { asksForHelp, planOf, type Step } from './demo/intents.ts';
import { type Outcome, tell } from './demo/results.ts';
import { type DemoTexts, textsFor } from './demo/texts.ts';
import { cancelled } from './failures.ts';
import type { ChatMessage, ModelClient, ModelReply, ModelRequest, ToolCall } from './model-client.ts';

/**
 * A model without intelligence, key or network, so that tools and approvals can be tried at once. Deterministic, and
 * without memory: each answer follows from the messages of its request alone.
 */
export function createDemoModel(): ModelClient {
  return {
    model: 'demo',
    contextTokens: 128_000,
    async complete(request) {
      if (request.signal.aborted) throw cancelled();
      const { text, step } = think(request);
      // In words, so that streaming can be seen.
      for (const piece of text.match(/\S*\s*/g) ?? []) if (piece !== '') request.onText?.(piece);
      return reply(request, text, step);
    },
  };
}

interface Thought {
  text: string;
  step?: Step;
}

function think({ messages, tools }: ModelRequest): Thought {
  const asked = messages.findLastIndex((message) => message.role === 'user');
  const said = saidIn(messages[asked]);
  const texts = textsFor(said);
  if (asksForHelp(said)) return { text: texts.help };
  const plan = planOf(said);
  if (plan === null) return { text: texts.notUnderstood };
  const results = messages.slice(asked + 1).filter((message) => message.role === 'tool');
  const done = results
    .slice(0, plan.length)
    .map((result, index) => outcomeOf(plan[index], result.content, texts));
  const last = done.at(-1);
  const next = plan[done.length];
  if (next === undefined || last?.succeeded === false) return { text: last?.text ?? texts.done };
  const offered = tools.some((tool) => tool.function.name === next.tool);
  return offered ? { text: last?.text ?? '', step: next } : { text: texts.toolMissing(next.tool) };
}

function outcomeOf(step: Step | undefined, content: string, texts: DemoTexts): Outcome {
  return step === undefined ? { text: texts.done, succeeded: true } : tell(step, content, texts);
}

/** The last thing that a person wrote: without the notes in brackets around it and the name in front of it. */
function saidIn(message: ChatMessage | undefined): string {
  if (message?.role !== 'user') return '';
  const whole =
    typeof message.content === 'string'
      ? message.content
      : message.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n');
  const paragraphs = whole
    .split(/\n{2,}/)
    .filter((part) => part.trim() !== '' && !/^\[[^\]]*\]$/s.test(part.trim()));
  const last = paragraphs.at(-1)?.trim() ?? '';
  const unnamed = last.replace(/^[\p{L}\p{N}_ .-]{1,40}: (?=\S)/u, '');
  return planOf(last) === null ? unnamed : last;
}

function reply({ messages }: ModelRequest, text: string, step: Step | undefined): ModelReply {
  const read = messages.reduce(
    (sum, message) => sum + (typeof message.content === 'string' ? message.content.length : 0),
    0,
  );
  const call: ToolCall[] =
    step === undefined
      ? []
      : [{ id: `call_demo_${messages.length}`, name: step.tool, arguments: JSON.stringify(step.args) }];
  return {
    text,
    toolCalls: call,
    finishReason: call.length > 0 ? 'tool_calls' : 'stop',
    usage: { inputTokens: Math.ceil(read / 4), outputTokens: Math.ceil(text.length / 4) },
    model: 'demo',
  };
}
