import { createToolDefinitions } from '../../../tools/definitions.ts';
import type { Registry } from '../../../tools/registry.ts';
import { type Selection, selectToolsets } from '../../../toolsets/platform-selection.ts';
import { createToolsets, type Toolsets } from '../../../toolsets/resolve.ts';
import type { Config } from '../../config/schema.ts';
import type { Log } from '../../log.ts';
import type { ToolDefinition } from '../../model/model-client.ts';
import type { SessionRow } from '../../store/sessions.ts';

/** Which tools a session is offered: the platform's toolsets as they were when the session began. */
export interface SessionTools {
  toolsets: Toolsets;
  selectionFor(platform: string): Selection;
  definitionsFor(session: Pick<SessionRow, 'chat' | 'settings'>): Promise<readonly ToolDefinition[]>;
}

export interface SessionToolsOptions {
  registry: Registry;
  log: Log;
  config(): Config;
  env: Readonly<Record<string, string | undefined>>;
  /** Toolsets named on the command line. */
  cli: readonly string[];
}

export function createSessionTools({ registry, log, config, env, cli }: SessionToolsOptions): SessionTools {
  const toolsets = createToolsets({ registry });
  const getToolDefinitions = createToolDefinitions({ registry, toolsets, log });

  function selectionFor(platform: string): Selection {
    const { platform_toolsets: platformToolsets, agent } = config();
    return selectToolsets(toolsets, {
      platform,
      ...(cli.length > 0 && { cli }),
      platformToolsets,
      env: env[`HERMES_${platform.toUpperCase()}_TOOLSETS`],
      disabledToolsets: agent.disabled_toolsets,
    });
  }

  return {
    toolsets,
    selectionFor,
    async definitionsFor(session) {
      const current = selectionFor(session.chat.platform);
      const frozen = session.settings.toolsets ?? current;
      // What an admin takes away is gone at once; what he adds comes with the next session.
      const definitions = await getToolDefinitions(
        frozen.enabled,
        [...frozen.disabled, ...current.disabled],
        true,
      );
      return definitions.map(({ type, function: { name, description, parameters } }) => ({
        type,
        function: { name, description, parameters: parameters ?? { type: 'object', properties: {} } },
      }));
    },
  };
}
