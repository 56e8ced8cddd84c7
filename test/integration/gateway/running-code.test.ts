import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Approval } from '../../../src/approvals/subject.ts';
import type { Registry } from '../../../tools/registry.ts';
import { type Harness, startHarness } from '../../support/gateway-harness.ts';
import { createScriptedModel } from '../../support/scripted-model.ts';

const answers: Approval[] = [];

/** A tool like a script that calls the terminal: it learns what it runs only while it runs. */
function scriptTool(registry: Registry): void {
  registry.register({
    name: 'script',
    toolset: 'test',
    schema: { description: 'script', parameters: z.object({ commands: z.array(z.string()) }) },
    async handler({ commands }, context) {
      for (const command of commands) {
        const place = { cwd: '/work', home: '/root', backend: 'local', isolated: false };
        answers.push(await context.approve({ kind: 'command', command, ...place }));
      }
      return '{"done":true}';
    },
  });
}

describe('code that is already running and calls the terminal', () => {
  let harness: Harness | null = null;
  const start = async (commands: string[], config: Record<string, unknown> = {}) => {
    answers.length = 0;
    const model = createScriptedModel([{ call: 'script', args: { commands } }, 'done']);
    harness = await startHarness({ model, register: scriptTool, config });
    return harness;
  };
  afterEach(async () => {
    await harness?.dispose();
    harness = null;
  });

  it('never runs what is forbidden, with approvals off and everything on the allowlist', async () => {
    const { platform } = await start(['rm -rf /', 'ls'], {
      approvals: { mode: 'off' },
      command_allowlist: ['*'],
    });
    await platform.says('go');
    await expect.poll(() => platform.texts()).toEqual(['done']);
    expect(answers).toMatchObject([{ approved: false, status: 'blocked' }, { approved: true }]);
  });

  it('asks the same person with the same card, and goes on with the decision', async () => {
    const { platform, store } = await start(['rm -r build']);
    await platform.says('go');
    await expect.poll(() => platform.card()?.buttons.length).toBe(2);
    expect((await platform.presses(/Once/, { user: 'bob' })).alert).toBe(true);
    expect(answers).toEqual([]);
    await platform.presses(/Once/);
    await expect.poll(() => platform.texts()).toEqual(['done']);
    expect(answers).toMatchObject([{ approved: true }]);
    const events = (await store.read.audit.list({ limit: 100 })).map((row) => row.event);
    expect(events).toEqual(expect.arrayContaining(['verdict', 'request', 'decision']));
  });
});
