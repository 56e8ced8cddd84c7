import { z } from 'zod';
import type { Registry } from '../../tools/registry.ts';

/** A tool `run` that keeps a ledger of what it ran. `cwd` is where its commands would run now. */
export function ledgerTool(
  ledger: string[],
  cwd: () => string = () => '/work',
): (registry: Registry) => void {
  return (registry) => {
    registry.register({
      name: 'run',
      toolset: 'test',
      schema: { description: 'run', parameters: z.object({ command: z.string() }) },
      handler: async ({ command }) => {
        ledger.push(command);
        return JSON.stringify({ output: `ran ${command}`, exit_code: 0, error: null });
      },
      subject: async ({ command }) => ({
        kind: 'command',
        command,
        cwd: cwd(),
        home: '/root',
        backend: 'local',
        isolated: false,
      }),
    });
    registry.register({
      name: 'ask',
      toolset: 'test',
      concurrency: 'exclusive',
      schema: {
        description: 'ask',
        parameters: z.object({ question: z.string(), choices: z.array(z.string()) }),
      },
      handler: async () => '{}',
      question: (args) => args,
    });
  };
}
