import { GatewayError } from '../../src/errors.ts';
import type { ChatMessage, ModelClient, ModelReply, ModelRequest } from '../../src/model/model-client.ts';

export type Step =
  | string
  | { call: string; args: Record<string, unknown> | string; id?: string; text?: string }
  | { calls: { call: string; args: Record<string, unknown> | string; id?: string }[] }
  | { fail: GatewayError }
  | { wait: Promise<void>; say: string };

/** A model that follows a script: a function of the last message, or a list of steps. */
export interface ScriptedModel extends ModelClient {
  requests: ModelRequest[];
}

export function createScriptedModel(
  script: Step[] | ((messages: readonly ChatMessage[]) => Step),
): ScriptedModel {
  const requests: ModelRequest[] = [];
  let serial = 0;
  const reply = (text: string, toolCalls: ModelReply['toolCalls'] = []): ModelReply => ({
    text,
    toolCalls,
    finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
    usage: { inputTokens: 1, outputTokens: 1 },
    model: 'scripted',
  });
  const toCall = ({
    call,
    args,
    id,
  }: {
    call: string;
    args: Record<string, unknown> | string;
    id?: string;
  }) => {
    serial += 1;
    return {
      id: id ?? `call_${serial}`,
      name: call,
      arguments: typeof args === 'string' ? args : JSON.stringify(args),
    };
  };
  return {
    requests,
    model: 'scripted',
    contextTokens: 100_000,
    async complete(request) {
      requests.push(request);
      const step = typeof script === 'function' ? script(request.messages) : script.shift();
      if (step === undefined) throw new GatewayError('model_rejected', 'the script has ended');
      if (typeof step === 'string') {
        request.onText?.(step);
        return reply(step);
      }
      if ('fail' in step) throw step.fail;
      if ('wait' in step) {
        await Promise.race([step.wait, aborted(request.signal)]);
        return reply(step.say);
      }
      if ('calls' in step) return reply('', step.calls.map(toCall));
      return reply(step.text ?? '', [toCall(step)]);
    },
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(new GatewayError('cancelled', 'cancelled'));
    if (signal.aborted) fail();
    signal.addEventListener('abort', fail, { once: true });
  });
}
