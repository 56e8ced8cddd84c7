import type { ToolCall } from '../model/model-client.ts';
import { parseArguments } from './repair.ts';
import { segments } from './schedule.ts';
import type { ToolOutcome, TurnPorts } from './turn.ts';

/** Calls of one segment that run at the same time. */
const maxParallel = 8;

type Prepared =
  | { kind: 'run'; call: ToolCall; args: Record<string, unknown> }
  | { kind: 'answered'; outcome: ToolOutcome }
  | { kind: 'wait' };

/**
 * Runs the calls that have no result yet, in segments; results are stored in the order of the calls whatever
 * finishes first. Parks at the first call that a person has to agree to: what comes after it waits too.
 */
export async function runTools(
  ports: TurnPorts,
  calls: readonly ToolCall[],
  signal: AbortSignal,
): Promise<'finished' | 'parked'> {
  const interrupted = await ports.transcript.unfinished(calls.map((call) => call.id));
  for (const segment of segments(calls, ports.tools.concurrencyOf)) {
    const prepared: Prepared[] = [];
    for (const call of segment) {
      prepared.push(await prepare(ports, call, interrupted, signal));
      if (prepared.at(-1)?.kind === 'wait') break;
    }
    await runPrepared(ports, prepared, signal);
    if (prepared.at(-1)?.kind === 'wait') return 'parked';
  }
  return 'finished';
}

/** Settles all that can be settled about a call without running it. */
async function prepare(
  ports: TurnPorts,
  call: ToolCall,
  interrupted: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Prepared> {
  const answer = (content: string): Prepared => ({
    kind: 'answered',
    outcome: { callId: call.id, tool: call.name, content },
  });
  if (signal.aborted) return answer(skipped);
  const offered = ports.tools.definitions.map((definition) => definition.function.name);
  if (!offered.includes(call.name)) return answer(unknownTool(call.name, offered));
  const args = parseArguments(call.arguments);
  if (args === null) return answer(badArguments);
  if (interrupted.has(call.id) && !ports.tools.isIdempotent(call.name)) return answer(outcomeUnknown);
  const consent = await ports.tools.consent(call, args);
  if (consent.kind === 'wait') return { kind: 'wait' };
  return consent.kind === 'answer' ? answer(consent.content) : { kind: 'run', call, args };
}

async function runPrepared(
  ports: TurnPorts,
  prepared: readonly Prepared[],
  signal: AbortSignal,
): Promise<void> {
  const ready = prepared.flatMap((item) => (item.kind === 'run' ? [item] : []));
  if (ready.length > 0) await ports.transcript.startCalls(ready.map((item) => item.call.id));
  const contents = await runLimited(ready, async ({ call, args }) => {
    if (signal.aborted) return skipped;
    ports.events.toolStarted(call, args);
    const content = await ports.tools.run(call, args, signal);
    ports.events.toolFinished(call);
    return content;
  });
  const outcomes = prepared.flatMap((item): ToolOutcome[] => {
    if (item.kind === 'wait') return [];
    if (item.kind === 'answered') return [item.outcome];
    return [{ callId: item.call.id, tool: item.call.name, content: contents.get(item) ?? skipped }];
  });
  if (outcomes.length > 0) await ports.transcript.appendResults(await ports.tools.limit(outcomes));
}

async function runLimited<Item>(
  items: readonly Item[],
  run: (item: Item) => Promise<string>,
): Promise<ReadonlyMap<Item, string>> {
  const results = new Map<Item, string>();
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift())
      results.set(item, await run(item));
  };
  await Promise.all(Array.from({ length: Math.min(maxParallel, items.length) }, worker));
  return results;
}

const skipped = JSON.stringify({
  error: 'Skipped: the user interrupted before this call began.',
  status: 'skipped',
});
const badArguments = JSON.stringify({
  error:
    'The arguments were not a valid JSON object, several times over. Nothing was run. Send the call again with valid JSON.',
});
const outcomeUnknown = JSON.stringify({
  error:
    'Interrupted, outcome unknown: the gateway was stopped while this call ran. It may have taken effect wholly, in part or not at all. It was not run again. Check the state before you repeat it.',
  status: 'interrupted',
});

function unknownTool(name: string, offered: readonly string[]): string {
  return JSON.stringify({ error: `Unknown tool: ${name}`, available_tools: offered });
}
