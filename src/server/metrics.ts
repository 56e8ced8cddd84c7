import { performance } from 'node:perf_hooks';
import { createRegistry } from './series.ts';

const platformStates = ['connecting', 'connected', 'retrying', 'fatal', 'disconnected'] as const;

/**
 * What the gateway counts. Labels are names from fixed sets (platforms, registered tools, models of the config),
 * never an id of a session, a chat or a person. Durations are in milliseconds here and in seconds on the wire.
 */
export interface Metrics {
  messageReceived(platform: string): void;
  messageDelivered(platform: string, outcome: 'sent' | 'retried' | 'dead'): void;
  turnEnded(
    platform: string,
    outcome: 'answered' | 'parked' | 'stopped' | 'failed',
    durationMs: number,
  ): void;
  toolCalled(tool: string, outcome: 'ok' | 'error', durationMs: number): void;
  approvalEnded(outcome: 'once' | 'session' | 'always' | 'deny' | 'expired' | 'superseded'): void;
  modelAnswered(model: string, outcome: 'ok' | 'error', latencyMs: number): void;
  tokensUsed(model: string, direction: 'input' | 'output', tokens: number): void;
  platformState(platform: string, state: (typeof platformStates)[number]): void;
  /** A figure that is read when someone scrapes, such as the depth of the outbox. */
  watch(name: string, help: string, read: () => number): void;
  render(): string;
}

const turnSeconds = [0.01, 0.05, 0.25, 1, 2.5, 5, 10, 30, 60, 300, 1800];
const toolSeconds = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600];
const modelSeconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180];

export function createMetrics(): Metrics {
  const registry = createRegistry();
  const received = registry.counter('hermes_messages_received_total', 'Messages received.');
  const delivered = registry.counter('hermes_messages_delivered_total', 'Messages handed to a platform.');
  const turns = registry.histogram('hermes_turn_seconds', 'Turns, from start to end.', turnSeconds);
  const tools = registry.histogram('hermes_tool_call_seconds', 'Tool calls.', toolSeconds);
  const approvals = registry.counter('hermes_approvals_total', 'Approvals by their end.');
  const models = registry.histogram('hermes_model_seconds', 'Requests to the model.', modelSeconds);
  const tokens = registry.counter('hermes_model_tokens_total', 'Tokens as the model counts them.');
  const platforms = registry.gauge('hermes_platform_state', '1 for the state that a platform is in.');
  watchProcess(registry.watch);

  return {
    messageReceived: (platform) => received({ platform }),
    messageDelivered: (platform, outcome) => delivered({ platform, outcome }),
    turnEnded: (platform, outcome, durationMs) => turns({ platform, outcome }, durationMs / 1000),
    toolCalled: (tool, outcome, durationMs) => tools({ tool, outcome }, durationMs / 1000),
    approvalEnded: (outcome) => approvals({ outcome }),
    modelAnswered: (model, outcome, latencyMs) => models({ model, outcome }, latencyMs / 1000),
    tokensUsed: (model, direction, count) => tokens({ model, direction }, count),
    platformState(platform, state) {
      for (const each of platformStates) platforms({ platform, state: each }, each === state ? 1 : 0);
    },
    watch: registry.watch,
    render: registry.render,
  };
}

function watchProcess(watch: Metrics['watch']): void {
  const startedAt = (Date.now() - performance.now()) / 1000;
  let lastLoop = performance.eventLoopUtilization();
  watch('process_start_time_seconds', 'When the process started.', () => startedAt);
  watch('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  watch('process_cpu_seconds_total', 'Processor time used.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  watch(
    'hermes_event_loop_utilization',
    'Share of time that the event loop was busy since the last look.',
    () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, lastLoop);
      lastLoop = now;
      return utilization;
    },
  );
}
