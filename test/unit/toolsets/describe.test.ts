import { expect, test } from 'vitest';
import { silentLog } from '../../../src/log.ts';
import { createRegistry } from '../../../tools/registry.ts';
import { describeToolset } from '../../../toolsets/describe.ts';
import { createToolsets } from '../../../toolsets/resolve.ts';

test('a toolset is described by what is offered, and why the rest is not', async () => {
  const registry = createRegistry({ log: silentLog });
  const add = (name: string, more = {}) =>
    registry.register({
      name,
      toolset: 'web',
      schema: { description: '', parameters: null },
      handler: () => '',
      ...more,
    });
  add('web_search');
  add('vision_analyze', { checkFn: () => false, requiresEnv: ['VISION_KEY'] });
  const toolsets = createToolsets({ registry });
  expect(await describeToolset('safe', toolsets, registry)).toEqual({
    name: 'safe',
    tools: ['web_search'],
    unavailable: [
      { tool: 'image_generate', reason: 'not built in yet', env: [] },
      { tool: 'vision_analyze', reason: 'needs what env names, or it does not work', env: ['VISION_KEY'] },
      { tool: 'web_extract', reason: 'not built in yet', env: [] },
    ],
  });
  expect(await describeToolset('nope', toolsets, registry)).toBeNull();
});
