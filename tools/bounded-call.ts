import { failureResult } from './handler-result.ts';
import type { ToolContext, ToolResult } from './tool.ts';

/** How long a handler that was told to stop may take to clean up and give its own result. */
const graceMs = 5_000;

/**
 * Runs a handler with a signal that aborts with the turn and after `timeoutMs` (null: never). One that goes on in
 * spite of the signal is left behind after a grace, so that it cannot hold its session.
 */
export async function runBounded(
  name: string,
  context: ToolContext,
  timeoutMs: number | null,
  run: (context: ToolContext) => Promise<ToolResult>,
): Promise<ToolResult> {
  const stop = new AbortController();
  const { promise: abandoned, resolve } = Promise.withResolvers<ToolResult>();
  const timers: NodeJS.Timeout[] = [];
  const end = (error: Error) => {
    stop.abort(error);
    timers.push(setTimeout(() => resolve(failureResult(error)), graceMs));
  };
  const onInterrupt = () => end(new Interrupted(`${name} was interrupted; its outcome is unknown`));
  if (context.signal.aborted) onInterrupt();
  else context.signal.addEventListener('abort', onInterrupt, { once: true });
  if (timeoutMs !== null) {
    const why = `${name} did not finish within ${timeoutMs / 1000} s and was stopped; its outcome is unknown`;
    timers.push(setTimeout(() => end(new ToolTimeout(why)), timeoutMs));
  }
  try {
    return await Promise.race([run({ ...context, signal: stop.signal }), abandoned]);
  } finally {
    for (const timer of timers) clearTimeout(timer);
    context.signal.removeEventListener('abort', onInterrupt);
  }
}

class Interrupted extends Error {}
class ToolTimeout extends Error {}
