import type { ApprovalSubject } from '../src/approvals/subject.ts';
import { errorMessage } from '../src/errors.ts';
import { runBounded } from './bounded-call.ts';
import {
  askPreHooks,
  noHooks,
  type ToolCallInfo,
  type ToolCallReport,
  type ToolCallStatus,
  type ToolHooks,
  tellPostHooks,
  transformResult,
} from './hooks.ts';
import { type Registry, registry as sharedRegistry } from './registry.ts';
import { isRecord, sanitizeErrorText, toolError } from './results.ts';
import type { ToolContext, ToolResult } from './tool.ts';
import { InvalidArguments } from './tool-record.ts';

export interface DispatchOptions {
  hooks?: ToolHooks;
  registry?: Registry;
  /** Bounds a handler that does not bound itself, in milliseconds. Default 300,000. */
  handlerTimeoutMs?: number;
}

export interface ToolCallOutcome {
  result: ToolResult;
  status: ToolCallStatus;
  durationMs: number;
}

const defaultHandlerTimeoutMs = 300_000;
/** Longer results are not parsed to see whether they tell of an error: it would hold the event loop. */
const maxInspectedChars = 100_000;

/**
 * Runs one tool call on behalf of anything but the agent loop (scripts, plugins, tests). Tools that need the
 * agent's state answer with a stub error. Never throws: the model always gets a result.
 */
export async function handleFunctionCall(
  name: string,
  args: unknown,
  context: ToolContext,
  options: DispatchOptions = {},
): Promise<ToolResult> {
  const record = (options.registry ?? sharedRegistry).get(name);
  if (record?.agentLoop || agentLoopTools.has(name))
    return toolError(`${name} must be handled by the agent loop`);
  return (await runToolCall(name, args, context, options)).result;
}

/** These belong to the loop even where no such tool is registered. */
const agentLoopTools: ReadonlySet<string> = new Set(['todo', 'memory', 'session_search', 'delegate_task']);

/**
 * Runs one tool call for the agent loop: coercion, hooks, the human gate, the handler, observers. Never throws.
 * A tool's `question` is not asked here: the loop parks on it before it gets this far.
 */
export async function runToolCall(
  name: string,
  args: unknown,
  context: ToolContext,
  options: DispatchOptions = {},
): Promise<ToolCallOutcome> {
  const hooks = options.hooks ?? noHooks;
  const tools = options.registry ?? sharedRegistry;
  const started = performance.now();
  const call: ToolCallInfo = {
    toolName: name,
    args: tools.get(name)?.coerce(args) ?? (isRecord(args) ? args : {}),
    taskId: context.taskId,
    sessionId: context.sessionId,
    toolCallId: context.toolCallId,
  };
  try {
    const { result, blocked } = await execute(call, context, tools, options);
    const report = reportOf(call, result, blocked, performance.now() - started);
    await tellPostHooks(hooks, report, context.log);
    const { status, durationMs } = report;
    return { result: await transformResult(hooks, report, context.log), status, durationMs };
  } catch (error) {
    context.log.error(
      { tool: name, error: errorMessage(error) },
      'A tool call failed outside of its handler.',
    );
    const result = toolError(`Error executing ${name}: ${sanitizeErrorText(errorMessage(error))}`);
    const report = reportOf(call, result, false, performance.now() - started);
    await tellPostHooks(hooks, report, context.log);
    return { result, status: 'error', durationMs: report.durationMs };
  }
}

interface Execution {
  result: ToolResult;
  blocked: boolean;
}

async function execute(
  call: ToolCallInfo,
  context: ToolContext,
  tools: Registry,
  options: DispatchOptions,
): Promise<Execution> {
  const { toolName: name, args } = call;
  const answer = await askPreHooks(options.hooks ?? noHooks, call, context.log);
  if (answer?.action === 'block') return { result: toolError(answer.message), blocked: true };
  const notes: string[] = [];
  if (answer) {
    const rule = {
      kind: 'rule',
      key: `plugin_rule:${answer.key}`,
      tool: name,
      reason: answer.reason,
    } as const;
    const refusal = await ask(rule, context, notes);
    if (refusal !== null) return { result: refusal, blocked: true };
  }
  const record = tools.get(name);
  try {
    const subject = (await record?.subject(args, context)) ?? null;
    const refusal = subject && (await ask(subject, context, notes));
    if (refusal !== null) return { result: refusal, blocked: true };
  } catch (error) {
    if (error instanceof InvalidArguments)
      return { result: toolError(sanitizeErrorText(error.message)), blocked: false };
    throw error;
  }
  const timeoutMs =
    record?.timeoutMs === undefined
      ? (options.handlerTimeoutMs ?? defaultHandlerTimeoutMs)
      : record.timeoutMs;
  const result = await runBounded(name, context, timeoutMs, (bounded) => tools.dispatch(name, args, bounded));
  return { result: withNotes(result, notes), blocked: false };
}

/** The refusal as the model reads it, or null when a person or the policy agreed. */
async function ask(subject: ApprovalSubject, context: ToolContext, notes: string[]): Promise<string | null> {
  const approval = await context.approve(subject);
  if (approval.approved) {
    if (approval.note !== undefined) notes.push(approval.note);
    return null;
  }
  const { message, status } = approval;
  return subject.kind === 'command'
    ? JSON.stringify({ output: '', exit_code: -1, error: message, status })
    : toolError(message, { status });
}

/** Who agreed, in the result's `approval` field, where the result is a JSON object. */
function withNotes(result: ToolResult, notes: readonly string[]): ToolResult {
  const fields = notes.length > 0 ? fieldsOf(result) : null;
  return fields ? JSON.stringify({ ...fields, approval: notes.join('; ') }) : result;
}

function reportOf(
  call: ToolCallInfo,
  result: ToolResult,
  blocked: boolean,
  durationMs: number,
): ToolCallReport {
  const error = fieldsOf(result)?.['error'];
  const failed = typeof error === 'string' && error !== '';
  const thrown = failed ? /^Tool execution failed: ([\w$]+): /.exec(error)?.[1] : undefined;
  return {
    ...call,
    result,
    durationMs: Math.round(durationMs),
    status: blocked ? 'blocked' : failed ? 'error' : 'ok',
    errorType: thrown ?? (failed ? 'tool_error' : null),
    errorMessage: failed ? error : null,
  };
}

function fieldsOf(result: ToolResult): Record<string, unknown> | null {
  if (typeof result !== 'string' || !result.startsWith('{') || result.length > maxInspectedChars) return null;
  try {
    const value: unknown = JSON.parse(result);
    return isRecord(value) ? value : null;
  } catch {
    return null; // Text that only looks like JSON.
  }
}
