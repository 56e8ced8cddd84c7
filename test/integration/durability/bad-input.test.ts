import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Registry } from '../../../tools/registry.ts';
import { type Harness, startHarness } from '../../support/gateway-harness.ts';
import { createScriptedModel, type Step } from '../../support/scripted-model.ts';

const megabytes = 10;

/** A tool that answers with what no model should be shown as it is. */
function register(registry: Registry): void {
  registry.register({
    name: 'flood',
    toolset: 'test',
    schema: { description: 'flood', parameters: z.object({ of: z.enum(['text', 'binary']) }) },
    handler: async ({ of }) =>
      of === 'text'
        ? JSON.stringify({ output: 'line of text\n'.repeat((megabytes * 1024 * 1024) / 13) })
        : JSON.stringify({
            output: Buffer.from(Array.from({ length: 60_000 }, (_, n) => n % 256)).toString('latin1'),
          }),
  });
  registry.register({
    name: 'explode',
    toolset: 'test',
    schema: { description: 'explode', parameters: z.object({}) },
    handler: async () => {
      throw new RangeError('a fault of the tool');
    },
  });
}

describe('bad input from tools and the model', () => {
  let harness: Harness;
  afterEach(() => harness.dispose());

  async function answerTo(steps: Step[]) {
    const model = createScriptedModel(steps);
    harness = await startHarness({ model, register, config: { display: { tool_progress: 'off' } } });
    await harness.platform.says('go');
    await expect.poll(() => harness.platform.texts(), { timeout: 10_000 }).toEqual(['done']);
    const last = model.requests.at(-1)?.messages.at(-1);
    return { model, result: typeof last?.content === 'string' ? last.content : '' };
  }

  it(`shows the model a part of ${megabytes} MB of output and says that it is one`, async () => {
    const { result } = await answerTo([{ call: 'flood', args: { of: 'text' } }, 'done']);
    expect(result.length).toBeLessThan(200_000);
    expect(result).toContain('line of text');
    expect(result).toMatch(/has \d+ characters/);
  });

  it('survives binary output', async () => {
    const { model } = await answerTo([{ call: 'flood', args: { of: 'binary' } }, 'done']);
    expect(model.requests).toHaveLength(2);
  });

  const faults: [string, Step, string][] = [
    ['arguments that are no JSON', { call: 'flood', args: '{"of": ' }, 'not a valid JSON'],
    ['arguments of the wrong kind', { call: 'flood', args: { of: 7 } }, 'of'],
    ['a tool that is not there', { call: 'nonexistent', args: {} }, 'Unknown tool'],
    ['a tool that throws', { call: 'explode', args: {} }, 'a fault of the tool'],
  ];

  it.each(faults)('goes on after %s, and tells the model', async (_name, step, told) => {
    // Arguments that are no JSON are asked for again, three times.
    const times = typeof step === 'object' && 'args' in step && typeof step.args === 'string' ? 4 : 1;
    const { result } = await answerTo([...Array.from({ length: times }, () => step), 'done']);
    expect(result).toContain(told);
  });
});
