import { GatewayError } from '../errors.ts';
import type { ChatMessage, ModelReply, ToolDefinition, Usage } from '../model/model-client.ts';
import { toMessages } from './messages.ts';
import { iterationsUsed } from './next-step.ts';
import { parseArguments, repairReply } from './repair.ts';
import type { TurnPorts } from './turn.ts';

/** How often a useless reply is asked for again before the loop makes do with it. */
const reAsks = 3;
const wrapUp =
  'You have used all the steps of this turn. Do not call tools. Tell the user briefly what is done, what is not, and what you would do next.';
const nudge = 'Your reply was empty. Answer the user, or say what the tool results mean.';

/** One model call: its reply is stored as the next entry, or as the final answer with its delivery. */
export async function askModel(ports: TurnPorts, signal: AbortSignal): Promise<'stored' | 'interrupted'> {
  const { transcript, model, tools, systemPrompt, maxIterations } = ports;
  const messages = toMessages(systemPrompt, transcript.entries(), model.contextTokens);
  const graceCall = iterationsUsed(transcript.entries()) >= maxIterations;
  if (graceCall) messages.push({ role: 'user', content: `[${wrapUp}]` });
  try {
    const reply = await usefulReply(ports, messages, graceCall ? [] : tools.definitions, signal);
    if (signal.aborted) return 'interrupted';
    await store(ports, reply, graceCall);
    return 'stored';
  } catch (error) {
    if (signal.aborted || (error instanceof GatewayError && error.code === 'cancelled')) return 'interrupted';
    throw error;
  }
}

async function store(ports: TurnPorts, reply: ModelReply, graceCall: boolean): Promise<void> {
  const { transcript, texts } = ports;
  if (reply.toolCalls.length > 0 && !graceCall) {
    ports.events.boundary();
    const body = {
      kind: 'assistant',
      text: reply.text,
      toolCalls: reply.toolCalls,
      model: reply.model,
    } as const;
    await transcript.appendCalls(body, reply.usage);
    return;
  }
  const said = reply.text.trim() === '' ? texts.emptyReply : reply.text;
  const text = graceCall ? `${said}\n\n${texts.budgetSpent}` : said;
  await transcript.finish({ kind: 'assistant', text, toolCalls: [], model: reply.model }, reply.usage);
}

/** Asks until the reply says something: neither empty, nor with arguments that are no JSON. */
async function usefulReply(
  ports: TurnPorts,
  messages: ChatMessage[],
  definitions: readonly ToolDefinition[],
  signal: AbortSignal,
): Promise<ModelReply> {
  const offered = definitions.map((definition) => definition.function.name);
  const usedIds = new Set(
    ports.transcript
      .entries()
      .flatMap((entry) => (entry.kind === 'assistant' ? entry.toolCalls.map((call) => call.id) : [])),
  );
  const usage: Usage = { inputTokens: 0, outputTokens: 0 };
  for (let attempt = 1; ; attempt += 1) {
    const raw = await ports.model.complete({
      messages,
      tools: definitions,
      signal,
      onText: (delta) => ports.events.text(delta),
      onRestart: () => ports.events.restart(),
      onActivity: () => ports.events.activity(),
    });
    usage.inputTokens += raw.usage.inputTokens;
    usage.outputTokens += raw.usage.outputTokens;
    const reply = { ...repairReply(raw, offered, usedIds), usage };
    const fault = faultOf(reply);
    if (fault === null || attempt > reAsks || signal.aborted) return reply;
    ports.log.warn({ fault, attempt }, 'the model reply is useless; asking again');
    ports.events.restart();
    const last = messages.at(-1);
    if (fault === 'empty' && last?.role === 'tool') messages.push({ role: 'user', content: `[${nudge}]` });
  }
}

function faultOf(reply: ModelReply): 'empty' | 'bad_arguments' | null {
  if (reply.toolCalls.some((call) => parseArguments(call.arguments) === null)) return 'bad_arguments';
  if (reply.toolCalls.length === 0 && reply.text.trim() === '') return 'empty';
  return null;
}
