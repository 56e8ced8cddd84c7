import { errorMessage } from '../src/errors.ts';
import type { Log } from '../src/log.ts';
import type { ToolRecord } from './tool-record.ts';

const checkTimeoutMs = 10_000;

/**
 * The verdicts of one build of the definitions: tools that share a check function run it once. A check that is
 * falsy, throws or takes longer than 10 s leaves the tool out; the model is told nothing.
 */
export function createAvailability(
  log: Log,
  quiet: boolean,
): { isAvailable(record: ToolRecord): Promise<boolean> } {
  const verdicts = new Map<() => unknown, Promise<boolean>>();

  async function run(record: ToolRecord, check: () => boolean | Promise<boolean>): Promise<boolean> {
    try {
      return Boolean(await withTimeout(Promise.resolve(check())));
    } catch (error) {
      if (!quiet) log.debug({ tool: record.name, error: errorMessage(error) }, 'The check of a tool failed.');
      return false;
    }
  }

  return {
    isAvailable(record) {
      const check = record.checkFn;
      if (!check) return Promise.resolve(true);
      const known = verdicts.get(check) ?? run(record, check);
      verdicts.set(check, known);
      return known;
    },
  };
}

async function withTimeout<Value>(work: Promise<Value>): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no verdict within ${checkTimeoutMs} ms`)), checkTimeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
