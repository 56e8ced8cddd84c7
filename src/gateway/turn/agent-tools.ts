import { runToolCall } from '../../../tools/dispatch.ts';
import type { ToolHooks } from '../../../tools/hooks.ts';
import type { Registry } from '../../../tools/registry.ts';
import type { ToolContext, ToolResult } from '../../../tools/tool.ts';
import type { ToolRecord } from '../../../tools/tool-record.ts';
import type { AgentTools, Consent } from '../../agent/turn.ts';
import { type ApprovalGate, approvalOf, type GateCall } from '../../approvals/gate.ts';
import type { Approval, ApprovalSubject } from '../../approvals/subject.ts';
import { errorMessage } from '../../errors.ts';
import type { ToolCall, ToolDefinition } from '../../model/model-client.ts';
import type { ApprovalRow } from '../../store/approvals.ts';
import type { SessionRow } from '../../store/sessions.ts';

export interface AgentToolsOptions {
  session: SessionRow;
  definitions: readonly ToolDefinition[];
  registry: Registry;
  hooks: ToolHooks;
  gate: ApprovalGate;
  /** Resolves once the request is settled; for code that is already running and cannot park. */
  waitForDecision(id: string, signal: AbortSignal): Promise<ApprovalRow>;
  /** The context of one call, but for what approvals add. */
  contextFor(callId: string, signal: AbortSignal): Omit<ToolContext, 'approve'>;
  limit: AgentTools['limit'];
}

/** The session's tools as the agent loop sees them: consent first, then the run, both behind the approval gate. */
export function createAgentTools(options: AgentToolsOptions): AgentTools {
  const { session, registry, gate } = options;
  /** What was agreed for a call before it ran: the gate inside dispatch finds it here and does not ask again. */
  const agreed = new Map<string, Approval>();
  /** Approved actions that were not simply safe: their runs are audited. */
  const watched = new Map<string, ApprovalSubject>();
  const agreedKey = (callId: string, subject: ApprovalSubject) => `${callId}\n${JSON.stringify(subject)}`;

  function contextOf(callId: string, signal: AbortSignal): ToolContext {
    let asked = 0;
    return {
      ...options.contextFor(callId, signal),
      async approve(subject) {
        const known = agreed.get(agreedKey(callId, subject));
        if (known) return known;
        asked += 1;
        return askWhileRunning({ session, callId: `${callId}/${asked}`, signal }, subject);
      },
    };
  }

  /** Code that runs already waits in memory; after a crash its own call counts as interrupted. */
  async function askWhileRunning(call: GateCall, subject: ApprovalSubject): Promise<Approval> {
    try {
      const consideration = await gate.consider(call, subject);
      if (consideration.kind === 'settled') return consideration.approval;
      return approvalOf(await options.waitForDecision(consideration.id, call.signal));
    } catch (error) {
      // Fail closed: an approval that cannot be asked for is none.
      return {
        approved: false,
        status: 'blocked',
        message: `BLOCKED: approval could not be asked for: ${errorMessage(error)}`,
      };
    }
  }

  async function consentTo(call: ToolCall, args: Record<string, unknown>): Promise<Consent> {
    const record = registry.get(call.name);
    if (!record) return { kind: 'run' };
    const signal = new AbortController().signal;
    const gateCall: GateCall = { session, callId: call.id, signal };
    const question = record.question(args);
    if (question) return questionConsent(await gate.question(gateCall, question.question, question.choices));
    const subject = await subjectOf(record, args, contextOf(call.id, signal));
    if (!subject) return { kind: 'run' };
    const consideration = await gate.consider(gateCall, subject);
    if (consideration.kind === 'waiting') return { kind: 'wait' };
    const { approval } = consideration;
    if (!approval.approved) return { kind: 'answer', content: await refusedResult(call, args, approval) };
    agreed.set(agreedKey(call.id, subject), approval);
    if (approval.note !== undefined) watched.set(call.id, subject);
    return { kind: 'run' };
  }

  /**
   * A refusal is told by dispatch, in the shape that the tool's results have. It is no run: nothing is marked as
   * started, or a crash would make a refused call look interrupted.
   */
  async function refusedResult(
    call: ToolCall,
    args: Record<string, unknown>,
    refusal: Approval,
  ): Promise<string> {
    const context = contextOf(call.id, new AbortController().signal);
    const refused = { ...context, approve: async () => refusal };
    const { result } = await runToolCall(call.name, args, refused, { hooks: options.hooks, registry });
    return textOf(result);
  }

  return {
    definitions: options.definitions,
    concurrencyOf: (name) => registry.get(name)?.concurrency ?? 'sequential',
    isIdempotent: (name) => registry.get(name)?.idempotent ?? false,
    consent: consentTo,
    async run(call, args, signal) {
      const { result, status } = await runToolCall(call.name, args, contextOf(call.id, signal), {
        hooks: options.hooks,
        registry,
      });
      const subject = watched.get(call.id);
      if (subject) await gate.ran({ session, callId: call.id, signal }, subject, status);
      return textOf(result);
    },
    limit: options.limit,
  };
}

function textOf(result: ToolResult): string {
  return typeof result === 'string' ? result : JSON.stringify({ content: result.content });
}

async function subjectOf(
  record: ToolRecord,
  args: Record<string, unknown>,
  context: ToolContext,
): Promise<ApprovalSubject | null> {
  try {
    return await record.subject(record.coerce(args), context);
  } catch {
    // Bad arguments: the call itself answers with what is wrong with them.
    return null;
  }
}

function questionConsent(row: ApprovalRow): Consent {
  if (row.state === 'pending') return { kind: 'wait' };
  if (row.ask.kind !== 'question') return { kind: 'run' };
  const { question, choices } = row.ask;
  const answers = {
    pending: '',
    decided: row.decision?.text ?? '',
    expired: '[The user did not answer in time. Decide yourself, sensibly, and say what you assumed.]',
    superseded: '[The user wrote something else instead of answering. Read it next.]',
  } as const;
  return {
    kind: 'answer',
    content: JSON.stringify({ question, choices_offered: choices, user_response: answers[row.state] }),
  };
}
