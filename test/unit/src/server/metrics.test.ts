import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../../src/server/metrics.ts';
import { createRegistry } from '../../../../src/server/series.ts';

const sample =
  /^[a-zA-Z_:][\w:]*(?:\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)+\})? (?:[-+]?[\d.]+(?:e[-+]?\d+)?|[+-]Inf|NaN)$/;

describe('metrics', () => {
  it('are written in the Prometheus text format, each family with its help and type', () => {
    const metrics = createMetrics();
    metrics.messageReceived('telegram');
    metrics.turnEnded('telegram', 'answered', 1_200);
    metrics.toolCalled('terminal', 'error', 3);
    metrics.watch('hermes_outbox_depth', 'Messages that wait.', () => 4);
    const lines = metrics.render().trimEnd().split('\n');
    const samples = lines.filter((line) => !line.startsWith('#'));
    expect(samples.filter((line) => !sample.test(line))).toEqual([]);
    expect(lines).toContain('# TYPE hermes_turn_seconds histogram');
    expect(lines).toContain('# TYPE process_cpu_seconds_total counter');
    expect(lines).toContain('hermes_messages_received_total{platform="telegram"} 1');
    expect(lines).toContain('hermes_outbox_depth 4');
  });

  it('cumulate the buckets of a histogram', () => {
    const metrics = createMetrics();
    for (const durationMs of [5, 40, 40_000, 4_000_000]) metrics.turnEnded('web', 'answered', durationMs);
    const text = metrics.render();
    const bucket = (le: string) =>
      text.match(
        new RegExp(`hermes_turn_seconds_bucket\\{[^}]*le="${le.replace('+', '\\+')}"\\} (\\d+)`),
      )?.[1];
    expect([bucket('0.01'), bucket('0.05'), bucket('60'), bucket('1800'), bucket('+Inf')]).toEqual([
      '1',
      '2',
      '3',
      '3',
      '4',
    ]);
    expect(text).toContain('hermes_turn_seconds_sum{platform="web",outcome="answered"} 4040.045');
  });

  it('show exactly one state of a platform', () => {
    const metrics = createMetrics();
    metrics.platformState('slack', 'connecting');
    metrics.platformState('slack', 'connected');
    const ones = metrics.render().match(/hermes_platform_state\{[^}]*\} 1/g);
    expect(ones).toEqual(['hermes_platform_state{platform="slack",state="connected"} 1']);
  });

  it('escape what a label holds', () => {
    const registry = createRegistry();
    registry.counter('c_total', 'C.')({ name: 'a"b\\c\nd' });
    expect(registry.render()).toContain('c_total{name="a\\"b\\\\c\\nd"} 1');
  });

  it('fold labels that grow without end into one series', () => {
    const registry = createRegistry();
    const count = registry.counter('c_total', 'C.');
    for (let index = 0; index < 1_000; index += 1) count({ name: `tool-${index}` });
    const lines = registry
      .render()
      .split('\n')
      .filter((line) => line.startsWith('c_total{'));
    expect(lines).toHaveLength(201);
    expect(lines).toContain('c_total{name="other"} 800');
  });

  it('leave out a figure that cannot be read and keep the others', () => {
    const registry = createRegistry();
    registry.watch('broken', 'B.', () => {
      throw new Error('no store');
    });
    registry.watch('whole', 'W.', () => 1);
    expect(registry.render()).toContain('whole 1');
    expect(registry.render()).toContain('# broken could not be read: Error: no store');
  });
});
