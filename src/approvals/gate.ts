import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';
import { errorMessage } from '../errors.ts';
import type { Log } from '../log.ts';
import type { ApprovalAsk, ApprovalRow, Choice } from '../store/approvals.ts';
import type { SessionRow } from '../store/sessions.ts';
import type { Store, Transaction } from '../store/store.ts';
import { type ApprovalPolicy, policyStep } from './policy.ts';
import { refusals } from './refusals.ts';
import { scopeCovers } from './scope.ts';
import type { Approval, ApprovalSubject } from './subject.ts';
import type { DecisionScope, Judgement } from './verdict.ts';

export interface GateOptions {
  store: Store;
  clock: Clock;
  log: Log;
  judge(subject: ApprovalSubject): Promise<Judgement>;
  policy(session: SessionRow): ApprovalPolicy;
  /** Whether the permanent allowlist covers the action. Read at each call: an edit of the file counts at once. */
  allowlisted(subject: ApprovalSubject, judgement: Judgement): boolean;
  /** One line on what the action would reach, or null. Bounded in time; has no side effects. */
  preview(call: GateCall, subject: ApprovalSubject, judgement: Judgement): Promise<string | null>;
  /** An auxiliary model's word. Anything unclear is `escalate`. */
  smart(
    subject: ApprovalSubject,
    judgement: Judgement,
    signal: AbortSignal,
  ): Promise<'approve' | 'deny' | 'escalate'>;
  /** Whether the whole action fits what a person can be shown (card or attached file). */
  canShow(session: SessionRow, subject: ApprovalSubject): boolean;
  /** Puts the card for a new request into the outbox, in the transaction that stores the request. */
  present(row: ApprovalRow, tables: Transaction): Promise<void>;
  onStored(row: ApprovalRow): void;
}

export interface GateCall {
  session: SessionRow;
  callId: string;
  signal: AbortSignal;
}

export type Consideration = { kind: 'settled'; approval: Approval } | { kind: 'waiting'; id: string };

/**
 * Decides whether an action may run now, must not, or waits for a person. Everything that runs something dangerous
 * passes here, whatever tool, script or subagent it comes from; the answer for one call id never changes.
 */
export interface ApprovalGate {
  consider(call: GateCall, subject: ApprovalSubject): Promise<Consideration>;
  /** Notes that an action that was not simply safe has run, and how it ended. */
  ran(call: GateCall, subject: ApprovalSubject, status: string): Promise<void>;
  /** Asks a question of the `clarify` tool; settled once it is answered, expired or superseded. */
  question(call: GateCall, question: string, choices: readonly string[]): Promise<ApprovalRow>;
}

export function createApprovalGate(options: GateOptions): ApprovalGate {
  const { store, clock } = options;

  async function consider(call: GateCall, subject: ApprovalSubject): Promise<Consideration> {
    const stored = await store.read.approvals.byCall(call.session.sessionId, call.callId);
    if (stored?.state === 'pending') return { kind: 'waiting', id: stored.id };
    if (stored) return settled(isAbout(stored, subject) ? approvalOf(stored) : refusal(refusals.changed));
    const judgement = await options.judge(subject);
    const remembered = await isRemembered(call.session, subject, judgement);
    const policy = options.policy(call.session);
    const step = policyStep(subject, judgement, policy, remembered);
    if (judgement.verdict !== 'safe') await auditVerdict(call, subject, judgement, step.kind);
    if (step.kind === 'allow') return settled({ approved: true, ...(step.note && { note: step.note }) });
    if (step.kind === 'refuse') return settled(refusal(refusals[step.why](describe(judgement))));
    if (step.kind === 'smart') return considerSmart(call, subject, judgement, policy);
    return ask(call, subject, judgement, policy, false);
  }

  async function considerSmart(
    call: GateCall,
    subject: ApprovalSubject,
    judgement: Judgement,
    policy: ApprovalPolicy,
  ): Promise<Consideration> {
    const word = await options.smart(subject, judgement, call.signal);
    await audit(call, 'smart', { word, category: judgement.category });
    if (word === 'approve') return settled({ approved: true, note: 'judged harmless by the smart approver' });
    if (!policy.attended) {
      const text = word === 'deny' ? refusals.smartDenied : refusals.unattended;
      return settled(refusal(text(describe(judgement))));
    }
    return ask(call, subject, judgement, policy, word === 'deny');
  }

  async function isRemembered(
    session: SessionRow,
    subject: ApprovalSubject,
    judgement: Judgement,
  ): Promise<boolean> {
    if (options.allowlisted(subject, judgement)) return true;
    const grants = await store.read.grants.list(session.key);
    return grants.some((scope) => scopeCovers(scope, judgement));
  }

  async function ask(
    call: GateCall,
    subject: ApprovalSubject,
    judgement: Judgement,
    policy: ApprovalPolicy,
    smartDenied: boolean,
  ): Promise<Consideration> {
    const shownInFull = options.canShow(call.session, subject);
    const scope = subject.kind === 'command' ? judgement.scope : null;
    const row = await request(call, policy.timeoutMs, {
      kind: 'approval',
      subject,
      category: judgement.category ?? subject.kind,
      description: describe(judgement),
      spans: judgement.spans,
      scope,
      choices: choicesFor({ shownInFull, smartDenied, scope, allowPermanent: policy.allowPermanent }),
      preview: await options.preview(call, subject, judgement),
      smartDenied,
      shownInFull,
    });
    return row ? { kind: 'waiting', id: row.id } : settled(refusal(refusals.failed));
  }

  async function request(call: GateCall, timeoutMs: number, ask: ApprovalAsk): Promise<ApprovalRow | null> {
    const now = clock.now();
    const { session } = call;
    const row: ApprovalRow = {
      id: randomBytes(9).toString('base64url'),
      sessionKey: session.key,
      sessionId: session.sessionId,
      callId: call.callId,
      chat: session.chat,
      locale: session.locale,
      askerId: session.userId,
      askerName: session.userName,
      ask,
      state: 'pending',
      createdAt: now,
      expiresAt: now + timeoutMs,
      decision: null,
      cardId: null,
    };
    try {
      await store.transaction(async (tables) => {
        await tables.approvals.add(row);
        await tables.timers.set({
          id: `approval:${row.id}`,
          kind: 'approval_expiry',
          ref: row.id,
          dueAt: row.expiresAt,
        });
        await options.present(row, tables);
        if (ask.kind === 'approval')
          await appendAudit(tables, call, 'request', { id: row.id, category: ask.category });
      });
    } catch (error) {
      // A request that cannot be shown or stored is a refusal: fail closed.
      options.log.error({ error: errorMessage(error) }, 'an approval request could not be made');
      return null;
    }
    options.onStored(row);
    return row;
  }

  const appendAudit = (tables: Transaction, call: GateCall, event: string, detail: object) =>
    tables.audit.append({
      at: clock.now(),
      event,
      sessionKey: call.session.key,
      actor: call.session.userId,
      detail: JSON.stringify({ callId: call.callId, ...detail }),
    });
  const audit = (call: GateCall, event: string, detail: object) =>
    store.transaction((tables) => appendAudit(tables, call, event, detail));
  const auditVerdict = (call: GateCall, subject: ApprovalSubject, judgement: Judgement, step: string) =>
    audit(call, 'verdict', {
      verdict: judgement.verdict,
      category: judgement.category,
      step,
      subject: brief(subject),
    });

  return {
    consider,
    ran: (call, subject, status) => audit(call, 'run', { status, subject: brief(subject) }),
    async question(call, question, choices) {
      const stored = await store.read.approvals.byCall(call.session.sessionId, call.callId);
      if (stored) return stored;
      const row = await request(call, options.policy(call.session).timeoutMs, {
        kind: 'question',
        question,
        choices,
      });
      if (!row) throw new Error('The question could not be asked.');
      return row;
    },
  };
}

const settled = (approval: Approval): Consideration => ({ kind: 'settled', approval });
const refusal = (message: string): Approval => ({ approved: false, status: 'blocked', message });
const describe = (judgement: Judgement) => judgement.description ?? 'this needs approval';

/** What is kept of the action in the audit: enough to know it, bounded. */
function brief(subject: ApprovalSubject): string {
  switch (subject.kind) {
    case 'command':
      return subject.command.slice(0, 2_000);
    case 'write':
      return subject.path;
    case 'script':
      return subject.code.slice(0, 2_000);
    case 'rule':
      return `${subject.key}: ${subject.reason}`;
  }
}

function choicesFor(facts: {
  shownInFull: boolean;
  smartDenied: boolean;
  scope: DecisionScope | null;
  allowPermanent: boolean;
}): Choice[] {
  // Nobody approves what he cannot see.
  if (!facts.shownInFull) return ['deny'];
  if (facts.smartDenied || facts.scope === null) return ['once', 'deny'];
  return facts.allowPermanent ? ['once', 'session', 'always', 'deny'] : ['once', 'session', 'deny'];
}

/** A consent is for what the card showed, in the place that it named: the shell may have moved since. */
function isAbout({ ask }: ApprovalRow, subject: ApprovalSubject): boolean {
  return ask.kind === 'approval' && isDeepStrictEqual(ask.subject, subject);
}

/** The answer that a settled request gives to the call that asked. */
export function approvalOf(row: ApprovalRow): Approval {
  if (row.state === 'expired') return refusal(refusals.expired);
  if (row.state === 'superseded') return refusal(refusals.superseded);
  const decision = row.decision;
  if (row.state !== 'decided' || !decision) return refusal(refusals.failed);
  if (decision.choice === 'deny') return refusal(refusals.denied(decision.byName, decision.text));
  return { approved: true, note: `approved by ${decision.byName} (${decision.choice})` };
}
