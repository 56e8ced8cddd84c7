import { join } from 'node:path';
import { discoverTools } from '../../tools/discover.ts';
import { type Registry, registry } from '../../tools/registry.ts';
import type { Log } from '../log.ts';
import { codeRoot } from '../package-root.ts';

/** The folder of the built-in tools: each file there that registers a tool is found by itself. */
const toolsFolder = join(codeRoot, 'tools');

export async function loadTools(home: string, log: Log, strictCollisions: boolean): Promise<Registry> {
  registry.configure({ log, strictCollisions });
  await discoverTools({
    folder: toolsFolder,
    cacheFile: join(home, 'cache', 'tool_discovery_cache.json'),
    log,
  });
  return registry;
}
