import { z } from 'zod';
import type { Registry } from '../../../tools/registry.ts';

/** Tools that keep a ledger of what they ran, in the order in which it ran. */
export interface LedgerTools {
  ledger: string[];
  register(registry: Registry): void;
  /** Calls of `hang` that wait; each ends with its own release, or never. */
  hanging: { release: () => void; signal: AbortSignal }[];
}

/** `run` asks before what begins with `rm`; `hang` waits to be released and heeds no signal; `script` is a script. */
export function createLedgerTools(): LedgerTools {
  const ledger: string[] = [];
  const hanging: LedgerTools['hanging'] = [];
  const command = z.object({ command: z.string() });
  return {
    ledger,
    hanging,
    register(registry) {
      registry.register({
        name: 'run',
        toolset: 'test',
        schema: { description: 'run', parameters: command },
        handler: async (args) => {
          ledger.push(args.command);
          return JSON.stringify({ output: `ran ${args.command}`, exit_code: 0, error: null });
        },
        subject: async (args) => ({
          kind: 'command',
          command: args.command,
          cwd: '/work',
          home: '/root',
          backend: 'local',
          isolated: false,
        }),
      });
      registry.register({
        name: 'hang',
        toolset: 'test',
        schema: { description: 'hang', parameters: command },
        handler: async (args, context) => {
          ledger.push(args.command);
          const { promise, resolve } = Promise.withResolvers<string>();
          hanging.push({ release: () => resolve('released'), signal: context.signal });
          return promise;
        },
      });
      registry.register({
        name: 'script',
        toolset: 'test',
        schema: { description: 'script', parameters: z.object({ code: z.string() }) },
        handler: async ({ code }) => {
          ledger.push(code);
          return '{}';
        },
        subject: async ({ code }) => ({ kind: 'script', language: 'python', code }),
      });
    },
  };
}

export const never: Promise<void> = new Promise(() => undefined);
