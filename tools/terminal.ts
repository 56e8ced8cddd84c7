import { z } from 'zod';
import { sleep, systemClock } from '../src/clock.ts';
import { errorMessage, GatewayError } from '../src/errors.ts';
import type { Environment, ExecResult } from './environments/environment.ts';
import { registry } from './registry.ts';
import { toolError, toolResult } from './results.ts';
import { gatewayStopProblem, needsPipe, sudoHint, workdirProblem } from './terminal/checks.ts';
import { exitCodeMeaning } from './terminal/exit-notes.ts';
import { foregroundProblem } from './terminal/foreground-guard.ts';
import { presentOutput } from './terminal/present-output.ts';
import type { ToolContext } from './tool.ts';

const args = z.object({
  command: z.string({ error: 'must be text: one shell command' }).describe('Shell command, run by bash'),
  background: z
    .boolean()
    .default(false)
    .describe('Start it and return at once; see it with the process tool'),
  timeout: z.int().min(1).optional().describe('Seconds to wait in the foreground (default 180, at most 600)'),
  workdir: z.string().optional().describe('Folder for this command; the session stays where it is'),
  pty: z.boolean().default(false).describe('Give a background command a terminal, for interactive programs'),
  notify_on_complete: z
    .boolean()
    .default(false)
    .describe('Be told when a background command ends, instead of polling'),
  watch_patterns: z
    .array(z.string().min(1))
    .default([])
    .describe('Be told when a background command prints one of these texts'),
});
type Args = z.infer<typeof args>;

/** A refusal that needs no look at the environment; null when the call may go on. */
function refusal(call: Args, context: ToolContext): string | null {
  const blocked = gatewayStopProblem(call.command) ?? workdirProblem(call.workdir ?? '');
  if (blocked !== null) return toolError(blocked, { output: '', exit_code: -1, status: 'blocked' });
  if (call.background) return null;
  const maxSeconds = context.config.terminal.maxForegroundTimeoutMs / 1_000;
  if (call.timeout !== undefined && call.timeout > maxSeconds) {
    return toolError(
      `A timeout of ${call.timeout} s is above the foreground maximum of ${maxSeconds} s. Use background=true with notify_on_complete for longer work.`,
    );
  }
  const guarded = foregroundProblem(call.command);
  return guarded === null ? null : toolError(guarded, { output: '', exit_code: -1, status: 'blocked' });
}

async function terminal(call: Args, context: ToolContext): Promise<string> {
  const refused = refusal(call, context);
  if (refused !== null) return refused;
  try {
    const run = call.background ? runInBackground : runInForeground;
    return await withRetries(context, async () => run(call, context, await context.environment()));
  } catch (error) {
    return failure(error);
  }
}

async function runInForeground(call: Args, context: ToolContext, environment: Environment): Promise<string> {
  const timeoutMs = call.timeout === undefined ? context.config.terminal.timeoutMs : call.timeout * 1_000;
  const maxBytes = context.config.toolOutput.maxBytes;
  const result = await environment.exec({
    command: call.command,
    sessionId: context.sessionId,
    timeoutMs,
    signal: context.signal,
    onActivity: context.activity,
    streams: 'merged',
    maxBytes,
    ...(call.workdir !== undefined && { cwd: call.workdir }),
  });
  const shown = presentOutput(result.output, maxBytes);
  const meaning = result.outcome === 'exited' ? exitCodeMeaning(call.command, result.exitCode) : null;
  const hint = result.exitCode === 0 ? null : sudoHint(result.output);
  return toolResult({
    output: shown + endNote(result, timeoutMs),
    exit_code: result.exitCode,
    error: null,
    ...(meaning !== null && { exit_code_meaning: meaning }),
    ...(hint !== null && { hint }),
    ...(result.recreated && { environment_recreated: true }),
  });
}

function endNote(result: ExecResult, timeoutMs: number): string {
  if (result.outcome === 'timed_out') return `\n[Command timed out after ${timeoutMs / 1_000}s]`;
  return result.outcome === 'interrupted' ? '\n[Command interrupted]' : '';
}

async function runInBackground(call: Args, context: ToolContext, environment: Environment): Promise<string> {
  const ignoresWatch = call.notify_on_complete && call.watch_patterns.length > 0;
  const pty = call.pty && !needsPipe(call.command);
  const started = await context.processes.start(environment, {
    sessionId: context.sessionId,
    command: call.command,
    pty,
    notifyOnComplete: call.notify_on_complete,
    watchPatterns: call.notify_on_complete ? [] : call.watch_patterns,
    ...(call.workdir !== undefined && { cwd: call.workdir }),
  });
  const note = call.pty && !pty ? 'Pipes are used: the command reads its standard input.' : started.ptyNote;
  return toolResult({
    output: 'Background process started',
    session_id: started.id,
    pid: started.pid,
    exit_code: 0,
    error: null,
    ...(note !== undefined && { pty_note: note }),
    ...(call.notify_on_complete && { notify_on_complete: true }),
    ...(started.watchPatterns.length > 0 && { watch_patterns: started.watchPatterns }),
    ...(ignoresWatch && {
      watch_patterns_ignored: 'notify_on_complete is set, so the patterns are not watched',
    }),
    ...(!call.notify_on_complete &&
      started.watchPatterns.length === 0 && {
        hint: 'Nothing tells you when it ends: poll it, or set notify_on_complete.',
      }),
  });
}

const attempts = 3;

/** Tries again only where the place could not be reached, so the command cannot have run. */
async function withRetries(context: ToolContext, run: () => Promise<string>): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      const mayRetry = error instanceof GatewayError && error.retryable && attempt < attempts;
      if (!mayRetry || context.signal.aborted) throw error;
      context.log.warn({ error: errorMessage(error), attempt }, 'The environment could not be reached.');
      await sleep(systemClock, 2 ** attempt * 1_000, context.signal);
    }
  }
}

function failure(error: unknown): string {
  if (!(error instanceof GatewayError)) throw error;
  const status = error.code === 'environment_unavailable' ? 'degraded' : 'error';
  const hint = error.mend === undefined ? {} : { hint: error.mend };
  return toolError(error.message, { output: '', exit_code: -1, status, ...hint });
}

registry.register({
  name: 'terminal',
  toolset: 'terminal',
  emoji: '💻',
  schema: {
    description:
      'Runs a shell command and returns its output. The folder, exported variables and functions last from call to call. Use background=true for servers and long work. For reading, writing and searching files use read_file, write_file, patch and search_files.',
    parameters: args,
  },
  handler: terminal,
  subject: async (call, context) => {
    if (refusal(call, context) !== null) return null;
    const environment = await context.environment();
    const { backend, isolated, home } = environment;
    const cwd = call.workdir ?? environment.cwd(context.sessionId);
    return { kind: 'command', command: call.command, cwd, home, backend, isolated };
  },
  preview: ({ command }) => command,
  concurrency: 'sequential',
  idempotent: false,
  // The command's own timeout bounds it.
  timeoutMs: null,
});
