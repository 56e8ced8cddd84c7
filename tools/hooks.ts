import { errorMessage } from '../src/errors.ts';
import type { Log } from '../src/log.ts';
import type { ToolResult } from './tool.ts';

/** One call, as hooks see it. */
export interface ToolCallInfo {
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly taskId: string;
  readonly sessionId: string;
  readonly toolCallId: string;
}

export type ToolCallStatus = 'ok' | 'error' | 'blocked';

export interface ToolCallReport extends ToolCallInfo {
  readonly result: ToolResult;
  readonly durationMs: number;
  readonly status: ToolCallStatus;
  readonly errorType: string | null;
  readonly errorMessage: string | null;
}

/** `ask` puts the call to a human under the key `plugin_rule:<key>`; nothing lets it pass. */
export type PreToolCallAnswer =
  | { action: 'block'; message: string }
  | { action: 'ask'; key: string; reason: string };

type MaybePromise<Value> = Value | Promise<Value>;

export interface ToolHooks {
  /** Runs once before a call. One that throws is ignored; one that takes too long blocks the call. */
  readonly preToolCall: readonly ((call: ToolCallInfo) => MaybePromise<PreToolCallAnswer | undefined>)[];
  /** Observes every finished call, blocked and failing ones too. What it throws is logged. */
  readonly postToolCall: readonly ((report: ToolCallReport) => MaybePromise<void>)[];
  /** The first string replaces the result. What it throws is logged, and the result stays. */
  readonly transformToolResult: readonly ((report: ToolCallReport) => MaybePromise<string | undefined>)[];
  /** Bounds each hook. Default 30,000. */
  readonly timeoutMs?: number;
}

export const noHooks: ToolHooks = { preToolCall: [], postToolCall: [], transformToolResult: [] };

const defaultTimeoutMs = 30_000;

type HookOutcome<Value> = { kind: 'answered'; value: Value } | { kind: 'failed' } | { kind: 'timed_out' };

/** What the pre hooks say together: block beats ask, ask beats nothing. */
export async function askPreHooks(
  hooks: ToolHooks,
  call: ToolCallInfo,
  log: Log,
): Promise<PreToolCallAnswer | undefined> {
  let asked: PreToolCallAnswer | undefined;
  for (const hook of hooks.preToolCall) {
    const outcome = await runHook(hooks, 'pre_tool_call', () => hook(call), call, log);
    if (outcome.kind === 'timed_out') {
      return {
        action: 'block',
        message: `A pre_tool_call hook did not answer in time, so ${call.toolName} was not run.`,
      };
    }
    if (outcome.kind === 'failed' || !outcome.value) continue;
    if (outcome.value.action === 'block') return outcome.value;
    asked ??= outcome.value;
  }
  return asked;
}

export async function tellPostHooks(hooks: ToolHooks, report: ToolCallReport, log: Log): Promise<void> {
  for (const hook of hooks.postToolCall) {
    await runHook(hooks, 'post_tool_call', () => hook(report), report, log);
  }
}

export async function transformResult(
  hooks: ToolHooks,
  report: ToolCallReport,
  log: Log,
): Promise<ToolResult> {
  for (const hook of hooks.transformToolResult) {
    const outcome = await runHook(hooks, 'transform_tool_result', () => hook(report), report, log);
    if (outcome.kind === 'answered' && typeof outcome.value === 'string') return outcome.value;
  }
  return report.result;
}

async function runHook<Value>(
  hooks: ToolHooks,
  name: string,
  hook: () => MaybePromise<Value>,
  { toolName }: ToolCallInfo,
  log: Log,
): Promise<HookOutcome<Value>> {
  const timeoutMs = hooks.timeoutMs ?? defaultTimeoutMs;
  const { promise: late, resolve } = Promise.withResolvers<HookOutcome<Value>>();
  const timer = setTimeout(() => resolve({ kind: 'timed_out' }), timeoutMs);
  try {
    const answered = (async (): Promise<HookOutcome<Value>> => ({ kind: 'answered', value: await hook() }))();
    const outcome = await Promise.race([answered, late]);
    if (outcome.kind === 'timed_out')
      log.warn({ hook: name, tool: toolName, timeoutMs }, 'A hook took too long.');
    return outcome;
  } catch (error) {
    log.warn({ hook: name, tool: toolName, error: errorMessage(error) }, 'A hook threw and is ignored.');
    return { kind: 'failed' };
  } finally {
    clearTimeout(timer);
  }
}
