import type { Clock } from '../clock.ts';
import { type ErrorCode, GatewayError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { ModelClient, ModelReply, ModelRequest } from './model-client.ts';

/** Failures of a provider, as opposed to failures of the request, which the next provider would refuse as well. */
const providerFailures: ReadonlySet<ErrorCode> = new Set([
  'model_rate_limited',
  'model_unavailable',
  'model_unauthorized',
]);

/** How long a provider that failed is left alone, so that each step of a turn doesn't wait for it anew. */
const restMs = 60_000;

/** Asks the clients in order until one answers. When all fail, the first one's failure is told: it is the one to mend. */
export function createFallback(
  clients: readonly [ModelClient, ...ModelClient[]],
  deps: { log: Log; clock: Clock },
): ModelClient {
  const [primary] = clients;
  const restsUntil = new Map<ModelClient, number>();

  function inOrder(): ModelClient[] {
    const now = deps.clock.now();
    const resting = (client: ModelClient) => (restsUntil.get(client) ?? 0) > now;
    return [...clients.filter((client) => !resting(client)), ...clients.filter(resting)];
  }

  async function complete(request: ModelRequest): Promise<ModelReply> {
    const failures = new Map<ModelClient, GatewayError>();
    let shown = false;
    const onText = (delta: string) => {
      shown = true;
      request.onText?.(delta);
    };
    for (const client of inOrder()) {
      if (shown) request.onRestart?.();
      shown = false;
      try {
        const reply = await client.complete({ ...request, onText });
        restsUntil.delete(client);
        return reply;
      } catch (error) {
        if (!(error instanceof GatewayError) || !providerFailures.has(error.code)) throw error;
        failures.set(client, error);
        restsUntil.set(client, deps.clock.now() + restMs);
        deps.log.warn({ model: client.model, code: error.code, reason: error.message }, 'a provider failed');
      }
    }
    throw (
      failures.get(primary) ??
      new GatewayError('model_unavailable', 'No provider answered.', { retryable: true })
    );
  }

  return { model: primary.model, contextTokens: primary.contextTokens, complete };
}
