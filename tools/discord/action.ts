import { z } from 'zod';
import { errorMessage } from '../../src/errors.ts';
import { toolError, toolResult } from '../results.ts';
import { createRest, type RestCall } from './rest.ts';

/** Arguments of both Discord tools; each action says which it needs. */
export const idArg = z.string().regex(/^\d{15,20}$/, 'an id of 15 to 20 digits');

/** One thing that a Discord tool can do: the arguments it needs, the call it makes, and what it shows of the answer. */
export interface Action<Args> {
  needs: readonly (keyof Args & string)[];
  about: string;
  call(args: Args): RestCall;
  view: z.ZodType;
}

/** Lines for the tool's description: `name(arguments): what it does`. */
export function describeActions<Args>(actions: Readonly<Record<string, Action<Args>>>): string {
  return Object.entries(actions)
    .map(([name, { needs, about }]) => `${name}(${needs.join(', ')}): ${about}`)
    .join('\n');
}

/** Runs one action. Every failure is a result for the model. */
export async function runAction<Args extends Readonly<Record<string, unknown>>>(
  action: Action<Args>,
  args: Args,
  signal: AbortSignal,
): Promise<string> {
  const missing = action.needs.filter((name) => args[name] === undefined);
  if (missing.length > 0) return toolError(`${String(args['action'])} needs ${missing.join(', ')}.`);
  try {
    const answer = await createRest(signal).call(action.call(args));
    return toolResult({ result: action.view.parse(answer) });
  } catch (error) {
    return toolError(
      error instanceof z.ZodError ? 'Discord answered in an unknown form.' : errorMessage(error),
    );
  }
}
