import { createLog } from '../log.ts';
import { loadHome } from './load.ts';
import { printJson, printTable } from './print.ts';
import { loadTools } from './tool-registry.ts';

/** `tools list`: every registered tool with its toolset, whether it can be offered, and why not. */
export async function listTools({ json }: { json?: boolean }): Promise<void> {
  const { home, config } = await loadHome();
  const registry = await loadTools(home, createLog('error'), config.tools.strict_collisions);
  const checks = await registry.checkTools(registry.names());
  const rows = registry.names().map((name) => {
    const record = registry.get(name);
    const available = checks.get(name)?.available ?? false;
    const env = record?.requiresEnv ?? [];
    const missing = env.filter((variable) => !process.env[variable]);
    const reason = available ? null : missing.length > 0 ? `needs ${missing.join(', ')}` : 'its check failed';
    return {
      name,
      toolset: record?.toolset ?? '',
      emoji: record?.emoji ?? '',
      description: record?.description ?? '',
      available,
      reason,
      env,
    };
  });
  if (json) return printJson(rows);
  printTable(rows.map((row) => [row.emoji, row.name, row.toolset, row.reason ?? 'available']));
}
