import type { Clock } from '../clock.ts';
import type { Config } from '../config/schema.ts';
import type { Log } from '../log.ts';
import { createDemoModel } from './demo.ts';
import { createFallback } from './fallback.ts';
import type { ModelClient } from './model-client.ts';
import { createOpenAIModel, type OpenAIOptions } from './openai.ts';

export interface ModelOptions {
  config: Pick<Config, 'model' | 'fallback_providers' | 'agent'>;
  log: Log;
  clock: Clock;
}

const defaultBaseUrl = 'https://api.openai.com/v1';
const defaultModel = 'gpt-5-mini';
/** What is assumed of a model whose window nobody has set: small enough for nearly all of today's. */
const defaultContextTokens = 128_000;

/**
 * The model that the configuration asks for, with its fallbacks. `demo`, or no key and no address of a server, is
 * the offline demo model. Cheap: make a new one when the configuration changed; calls under way end with the old.
 */
export function createModel({ config, log, clock }: ModelOptions): ModelClient {
  const { model, fallback_providers: fallbacks, agent } = config;
  if (usesDemoModel(config)) return createDemoModel();
  const shared = { retries: agent.api_max_retries, limits: limitsOf(model) };
  const primary = createOpenAIModel(primaryOptions(model, shared), { log, clock });
  const others = fallbacks.map((fallback, index) => {
    const sameServer = fallback.base_url === '' || fallback.base_url === model.base_url;
    return createOpenAIModel(
      {
        ...shared,
        model: fallback.model,
        baseUrl: fallback.base_url || model.base_url || defaultBaseUrl,
        // A key belongs to the server it was issued for, and is shown to no other.
        apiKey: fallback.api_key || (sameServer ? model.api_key : ''),
        keyName: `fallback_providers.${index}.api_key`,
        contextTokens: fallback.context_tokens ?? defaultContextTokens,
      },
      { log, clock },
    );
  });
  return others.length === 0 ? primary : createFallback([primary, ...others], { log, clock });
}

/** True when there is nobody to ask but the built-in demo model. */
export function usesDemoModel({ model }: Pick<Config, 'model'>): boolean {
  return model.name === 'demo' || (model.api_key === '' && model.base_url === '');
}

function primaryOptions(
  model: Config['model'],
  shared: Pick<OpenAIOptions, 'retries' | 'limits'>,
): OpenAIOptions {
  return {
    ...shared,
    model: model.name || defaultModel,
    baseUrl: model.base_url || defaultBaseUrl,
    apiKey: model.api_key,
    keyName: 'OPENAI_API_KEY',
    contextTokens: model.context_tokens ?? defaultContextTokens,
    ...(model.max_tokens !== undefined && { maxTokens: model.max_tokens }),
    ...(model.temperature !== undefined && { temperature: model.temperature }),
  };
}

function limitsOf(model: Config['model']): OpenAIOptions['limits'] {
  const ceilingMs = model.request_timeout * 1000;
  return {
    streaming: {
      ceilingMs,
      silenceMs: model.stream_read_timeout * 1000,
      staleMs: model.stream_stale_timeout * 1000,
    },
    whole: { ceilingMs, silenceMs: model.stall_timeout * 1000, staleMs: 0 },
  };
}
