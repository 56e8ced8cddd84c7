import { describe, expect, it } from 'vitest';
import { runTurn } from '../../../../src/agent/run-turn.ts';
import type { AgentTools, Consent, ToolOutcome, Transcript, TurnPorts } from '../../../../src/agent/turn.ts';
import { silentLog } from '../../../../src/log.ts';
import type { Entry, EntryBody } from '../../../../src/store/entries.ts';
import { createScriptedModel, type Step } from '../../../support/scripted-model.ts';

/** A transcript in memory with its journal: what the stored one does, minus the disk. */
function memoryTranscript(): Transcript & { all: Entry[]; started: Set<string> } {
  const all: Entry[] = [];
  const started = new Set<string>();
  const push = (body: EntryBody) => {
    all.push({ ...body, id: all.length + 1, sessionId: 's', at: 0 });
  };
  return {
    all,
    started,
    entries: () => all,
    append: async (body) => push(body),
    appendCalls: async (body) => push(body),
    async startCalls(ids) {
      for (const id of ids) started.add(id);
    },
    unfinished: async (ids) => new Set(ids.filter((id) => started.has(id))),
    async appendResults(results) {
      for (const { callId, tool, content } of results) {
        started.delete(callId);
        push({ kind: 'tool', callId, tool, content });
      }
    },
    finish: async (body) => push(body),
  };
}

interface Setup {
  script: Step[];
  run?: (name: string, args: Record<string, unknown>, signal: AbortSignal) => Promise<string>;
  consent?: (name: string) => Consent;
  idempotent?: boolean;
  maxIterations?: number;
  transcript?: ReturnType<typeof memoryTranscript>;
}

function setup({
  script,
  run,
  consent,
  idempotent = false,
  maxIterations = 10,
  transcript = memoryTranscript(),
}: Setup) {
  const names = ['run', 'search', 'other'];
  const tools: AgentTools = {
    definitions: names.map((name) => ({
      type: 'function',
      function: { name, description: '', parameters: {} },
    })),
    concurrencyOf: (name) => (name === 'search' ? 'parallel' : 'sequential'),
    isIdempotent: () => idempotent,
    consent: async (call) => consent?.(call.name) ?? { kind: 'run' },
    run: async (call, args, signal) => run?.(call.name, args, signal) ?? 'ok',
    limit: async (results: readonly ToolOutcome[]) => results,
  };
  const model = createScriptedModel(script);
  const ports: TurnPorts = {
    transcript,
    model,
    tools,
    events: {
      text: () => undefined,
      restart: () => undefined,
      boundary: () => undefined,
      toolStarted: () => undefined,
      toolFinished: () => undefined,
      activity: () => undefined,
    },
    systemPrompt: 'sys',
    maxIterations,
    texts: { budgetSpent: '(budget spent)', emptyReply: '(no answer)' },
    log: silentLog,
  };
  return { ports, model, transcript };
}

const idle = () => new AbortController().signal;
const say = (transcript: Transcript) => transcript.append({ kind: 'user', text: 'go' });
const results = (transcript: { all: Entry[] }) =>
  transcript.all.flatMap((entry) => (entry.kind === 'tool' ? [entry.content] : []));
const lastText = (transcript: { all: Entry[] }) => {
  const last = transcript.all.at(-1);
  return last?.kind === 'assistant' ? last.text : undefined;
};

describe('a turn', () => {
  it('goes on until the model answers without calling tools', async () => {
    const { ports, transcript } = setup({
      script: [{ call: 'run', args: {} }, { call: 'run', args: { a: 1 } }, 'done'],
    });
    await say(transcript);
    expect(await runTurn(ports, idle())).toBe('done');
    expect(lastText(transcript)).toBe('done');
    expect(results(transcript)).toEqual(['ok', 'ok']);
  });

  it('stores results in the order of the calls, whatever finishes first', async () => {
    const { ports, transcript } = setup({
      script: [
        {
          calls: [
            { call: 'search', args: { n: 3 } },
            { call: 'search', args: { n: 1 } },
          ],
        },
        'done',
      ],
      run: async (_name, { n }) => {
        await new Promise((resolve) => setTimeout(resolve, Number(n) * 10));
        return `r${n}`;
      },
    });
    await say(transcript);
    await runTurn(ports, idle());
    expect(results(transcript)).toEqual(['r3', 'r1']);
  });

  it('parks at a call that waits for a person and runs nothing after it', async () => {
    const ran: string[] = [];
    const { ports, transcript } = setup({
      script: [
        {
          calls: [
            { call: 'run', args: {} },
            { call: 'other', args: {} },
            { call: 'run', args: { a: 1 } },
          ],
        },
      ],
      consent: (name) => ({ kind: name === 'other' ? 'wait' : 'run' }),
      run: async (name) => {
        ran.push(name);
        return 'ok';
      },
    });
    await say(transcript);
    expect(await runTurn(ports, idle())).toBe('parked');
    expect(ran).toEqual(['run']);
  });

  it('goes on where it parked once consent is there', async () => {
    let consent: Consent = { kind: 'wait' };
    const { ports, transcript } = setup({
      script: [{ call: 'run', args: {} }, 'done'],
      consent: () => consent,
    });
    await say(transcript);
    expect(await runTurn(ports, idle())).toBe('parked');
    consent = { kind: 'run' };
    expect(await runTurn(ports, idle())).toBe('done');
    expect(results(transcript)).toEqual(['ok']);
  });

  it('does not run again a call that a crash cut short, and says that its outcome is unknown', async () => {
    const first = setup({ script: [{ call: 'run', args: {}, id: 'c' }] });
    await say(first.transcript);
    await first.transcript.append({
      kind: 'assistant',
      text: '',
      toolCalls: [{ id: 'c', name: 'run', arguments: '{}' }],
      model: 'm',
    });
    await first.transcript.startCalls(['c']);
    let ran = 0;
    const second = setup({
      script: ['I see'],
      transcript: first.transcript,
      run: async () => {
        ran += 1;
        return 'ok';
      },
    });
    expect(await runTurn(second.ports, idle())).toBe('done');
    expect(ran).toBe(0);
    expect(results(first.transcript)[0]).toMatch(/outcome unknown/);
  });

  it('runs it again when its tool is idempotent', async () => {
    const { ports, transcript } = setup({ script: ['fine'], idempotent: true });
    await say(transcript);
    await transcript.append({
      kind: 'assistant',
      text: '',
      toolCalls: [{ id: 'c', name: 'run', arguments: '{}' }],
      model: 'm',
    });
    await transcript.startCalls(['c']);
    await runTurn(ports, idle());
    expect(results(transcript)).toEqual(['ok']);
  });

  it('asks again, three times at most, for arguments that are no JSON; then answers the call with the fault', async () => {
    const bad: Step = { call: 'run', args: '{"a":' };
    const { ports, model, transcript } = setup({ script: [bad, bad, bad, bad, 'sorry'] });
    await say(transcript);
    await runTurn(ports, idle());
    expect(model.requests).toHaveLength(5);
    expect(results(transcript)[0]).toMatch(/not a valid JSON object/);
  });

  it('answers a call of an unknown tool with the names of those there are', async () => {
    const { ports, transcript } = setup({ script: [{ call: 'launch_rocket', args: {} }, 'sorry'] });
    await say(transcript);
    await runTurn(ports, idle());
    expect(results(transcript)[0]).toBe(
      '{"error":"Unknown tool: launch_rocket","available_tools":["run","search","other"]}',
    );
  });

  it('asks again when the reply is empty, and says so when it stays empty', async () => {
    const { ports, transcript } = setup({ script: ['', ' ', '', ''] });
    await say(transcript);
    await runTurn(ports, idle());
    expect(lastText(transcript)).toBe('(no answer)');
  });

  it('makes one last call without tools when the budget is spent', async () => {
    const call = (n: number): Step => ({ call: 'run', args: { n } });
    const { ports, model, transcript } = setup({ script: [call(1), call(2), 'summary'], maxIterations: 2 });
    await say(transcript);
    await runTurn(ports, idle());
    expect(model.requests.at(-1)?.tools).toEqual([]);
    expect(lastText(transcript)).toBe('summary\n\n(budget spent)');
  });

  it('ends at an interrupt: running calls are signalled, later ones skipped, every call has a result', async () => {
    const abort = new AbortController();
    const { ports, transcript } = setup({
      script: [
        {
          calls: [
            { call: 'run', args: {} },
            { call: 'run', args: { a: 1 } },
          ],
        },
      ],
      run: async (_name, _args, signal) => {
        abort.abort('stopped');
        return signal.aborted ? 'interrupted' : 'ok';
      },
    });
    await say(transcript);
    expect(await runTurn(ports, abort.signal)).toBe('interrupted');
    expect(results(transcript)[0]).toBe('interrupted');
    expect(results(transcript)[1]).toMatch(/Skipped/);
  });
});
