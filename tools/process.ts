import { z } from 'zod';
import { redactSecrets } from '../src/redact.ts';
import type { ProcessInfo } from './environments/process-table.ts';
import { noteTyped, typedWith } from './process/typed.ts';
import { registry } from './registry.ts';
import { toolError, toolResult } from './results.ts';
import type { ToolContext } from './tool.ts';

const actionNames = ['list', 'poll', 'log', 'wait', 'kill', 'write', 'submit', 'close'] as const;

const args = z.object({
  action: z.string().describe(`One of ${actionNames.join(', ')}`),
  session_id: z.string().optional().describe('The id that terminal returned; needed by all but list'),
  data: z.string().default('').describe('Text for write (as it is) and submit (with Enter)'),
  timeout: z.number().optional().describe('Seconds that wait waits at most'),
  offset: z.int().min(0).optional().describe('First line of log, from 0; without it the last lines'),
  limit: z.int().min(1).default(200).describe('Lines of log'),
});
type Args = z.infer<typeof args>;

type Action = (info: ProcessInfo, call: Args, context: ToolContext) => Promise<string>;

const commandChars = 200;
const listPreviewChars = 200;
const pollPreviewChars = 1_000;
const tailChars = 2_000;
const killedExitCode = -15;

const output = (info: ProcessInfo, context: ToolContext) => redactSecrets(context.processes.output(info.id));
const uptime = (info: ProcessInfo) => Math.round((Date.now() - info.startedAt) / 1_000);
const exitCode = (info: ProcessInfo) => (info.status === 'exited' ? { exit_code: info.exitCode } : {});

function listed(info: ProcessInfo, context: ToolContext) {
  return {
    session_id: info.id,
    command: info.command.slice(0, commandChars),
    cwd: info.cwd,
    pid: info.pid,
    started_at: new Date(info.startedAt).toISOString(),
    uptime_seconds: uptime(info),
    status: info.status,
    output_preview: output(info, context).slice(-listPreviewChars),
    ...exitCode(info),
    ...(info.notifyOnComplete && { notify_on_complete: true }),
    ...(info.watchPatterns.length > 0 && { watch_patterns: info.watchPatterns }),
    ...(info.detached && { detached: true }),
  };
}

/** What each way of typing adds. */
const endings = { write: '', submit: '\n' } as const;
const types = (action: string): action is keyof typeof endings => Object.hasOwn(endings, action);

const send =
  (ending: string): Action =>
  async (info, { data }, context) => {
    const text = data + ending;
    const outcome = await context.processes.write(info.id, text);
    noteTyped(info.id, text, outcome);
    return outcome === 'ok'
      ? toolResult({ status: 'ok', bytes_written: Buffer.byteLength(text) })
      : inputProblem(info, outcome);
  };

function inputProblem(info: ProcessInfo, outcome: 'no_stdin' | 'exited'): string {
  return outcome === 'exited'
    ? toolError(`Process ${info.id} has ended.`, { status: 'already_exited' })
    : toolError(`Process ${info.id} has no standard input.`, { status: 'error' });
}

const wait: Action = async (info, call, context) => {
  const limit = context.config.terminal.timeoutMs / 1_000;
  if (call.timeout !== undefined && call.timeout <= 0) return toolError('timeout must be above 0 seconds.');
  const seconds = Math.min(call.timeout ?? limit, limit);
  const clamped = (call.timeout ?? 0) > limit;
  const note = clamped && { timeout_note: `Waited at most ${limit} s, the limit for one call.` };
  const outcome = await context.processes.wait(info.id, seconds * 1_000, context.signal);
  const tail = output(info, context).slice(-tailChars);
  if (outcome !== 'exited') {
    const running = outcome === 'timeout' && {
      process_running: true,
      note: 'This is not an error: the process goes on. Wait again, or do something else meanwhile.',
    };
    return toolResult({ status: outcome, session_id: info.id, output: tail, ...running, ...note });
  }
  await context.processes.consume(info.id);
  const ended = context.processes.find(context.sessionId, info.id);
  return toolResult({
    status: 'exited',
    session_id: info.id,
    exit_code: ended?.exitCode ?? null,
    output: tail,
    ...note,
  });
};

const actions: Readonly<Record<Exclude<(typeof actionNames)[number], 'list'>, Action>> = {
  poll: async (info, _call, context) =>
    toolResult({
      session_id: info.id,
      command: info.command.slice(0, commandChars),
      status: info.status,
      pid: info.pid,
      uptime_seconds: uptime(info),
      output_preview: output(info, context).slice(-pollPreviewChars),
      ...exitCode(info),
    }),

  async log(info, { offset, limit }, context) {
    const text = output(info, context);
    const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
    const shown = offset === undefined ? lines.slice(-limit) : lines.slice(offset, offset + limit);
    if (info.status === 'exited') await context.processes.consume(info.id);
    return toolResult({
      session_id: info.id,
      status: info.status,
      output: shown.join('\n'),
      total_lines: lines.length,
      showing: `${shown.length} lines`,
    });
  },

  wait,

  async kill(info, _call, context) {
    await context.processes.consume(info.id);
    const { killed, alreadyExited, survivors } = await context.processes.kill(info.id);
    if (alreadyExited)
      return toolResult({ status: 'already_exited', session_id: info.id, ...exitCode(info) });
    if (!killed) {
      return toolError(`Some of process ${info.id} still live: ${survivors.join(', ')}.`, {
        status: 'error',
        survivors,
      });
    }
    return toolResult({
      status: 'killed',
      session_id: info.id,
      exit_code: killedExitCode,
      output: output(info, context).slice(-tailChars),
    });
  },

  write: send(endings.write),
  submit: send(endings.submit),

  async close(info, _call, context) {
    const outcome = await context.processes.closeInput(info.id);
    return outcome === 'ok' ? toolResult({ status: 'ok' }) : inputProblem(info, outcome);
  },
};

const isAction = (name: string): name is keyof typeof actions => Object.hasOwn(actions, name);

registry.register({
  name: 'process',
  toolset: 'terminal',
  emoji: '⚙️',
  schema: {
    description:
      'Looks after background processes started by terminal: list, poll (status), log (output), wait, kill, write, submit (write and Enter), close (end of input).',
    parameters: args,
  },
  async handler(call, context) {
    const { action, session_id: id } = call;
    if (action === 'list') {
      const processes = context.processes.list(context.sessionId).map((info) => listed(info, context));
      return toolResult({ processes });
    }
    if (!isAction(action)) {
      return toolError(`Unknown action ${JSON.stringify(action)}. Actions: ${actionNames.join(', ')}.`);
    }
    if (id === undefined || id === '')
      return toolError(`${action} needs session_id, the id that terminal gave.`);
    const info = context.processes.find(context.sessionId, id);
    if (info === null) {
      return toolError(`No background process ${id}. Use list to see those of this session.`, {
        status: 'not_found',
      });
    }
    return actions[action](info, call, context);
  },
  // What is typed into a shell is run by it, so it is judged as a command is.
  subject: async ({ action, session_id: id = '', data }, context) => {
    const info = types(action) ? context.processes.find(context.sessionId, id) : null;
    if (!types(action) || info === null) return null;
    const { backend, isolated, home } = await context.environment();
    const command = typedWith(info.id, data + endings[action]);
    return { kind: 'command', command, cwd: info.cwd, home, backend, isolated };
  },
  preview: ({ action, session_id: id }) => `${action} ${id ?? ''}`.trim(),
  concurrency: 'sequential',
  idempotent: false,
  // `wait` bounds itself.
  timeoutMs: null,
});
