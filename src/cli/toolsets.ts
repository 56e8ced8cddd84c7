import type { Registry } from '../../tools/registry.ts';
import { describeTools, describeToolset, type ToolsetDescription } from '../../toolsets/describe.ts';
import { GatewayError } from '../errors.ts';
import { createSessionTools, type SessionTools } from '../gateway/turn/session-tools.ts';
import { createLog } from '../log.ts';
import { loadHome } from './load.ts';
import { print, printJson, printNote, printTable } from './print.ts';
import { loadTools } from './tool-registry.ts';
import { unknownToolsets } from './unknown-toolsets.ts';

interface Output {
  json?: boolean;
}

async function load(): Promise<{ registry: Registry; sessionTools: SessionTools }> {
  const { home, config, env } = await loadHome();
  const log = createLog('error');
  const registry = await loadTools(home, log, config.tools.strict_collisions);
  return {
    registry,
    sessionTools: createSessionTools({ registry, log, config: () => config, env, cli: [] }),
  };
}

export async function listToolsets({ json }: Output): Promise<void> {
  const { sessionTools } = await load();
  const all = sessionTools.toolsets.list();
  if (json) return printJson(all);
  printTable(all.map(({ name, description }) => [name, description]));
}

export async function showToolset(name: string, output: Output): Promise<void> {
  const { registry, sessionTools } = await load();
  const shown = await describeToolset(name, sessionTools.toolsets, registry);
  if (shown === null) {
    throw new GatewayError('usage', `There is no toolset "${name}".`, {
      mend: 'hermes-gateway toolsets list shows them.',
    });
  }
  show(shown, output);
}

export async function showPlatform(platform: string, output: Output): Promise<void> {
  const { registry, sessionTools } = await load();
  const presets = sessionTools.toolsets.list().map(({ name }) => name);
  if (!presets.includes(`hermes-${platform.replaceAll('_', '-')}`)) {
    throw new GatewayError('usage', `There is no platform "${platform}".`, {
      mend: 'Platforms are telegram, discord, slack, web and cli.',
    });
  }
  const unknown = unknownToolsets(sessionTools, platform);
  if (unknown !== null) printNote(unknown);
  const { tools } = sessionTools.selectionFor(platform);
  show(await describeTools(platform, tools, registry), output);
}

function show(shown: ToolsetDescription, { json }: Output): void {
  if (json) {
    printJson(shown);
    return;
  }
  print(shown.name);
  for (const tool of shown.tools) print(`  ${tool}`);
  for (const { tool, reason, env } of shown.unavailable) {
    print(`  ${tool} (not offered: ${reason}${env.length > 0 ? `; set ${env.join(', ')}` : ''})`);
  }
}
