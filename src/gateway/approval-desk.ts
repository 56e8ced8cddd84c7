import type { Platform } from '../../platforms/platform.ts';
import { createDecisions, type Decisions } from '../approvals/decide.ts';
import { type ApprovalGate, createApprovalGate, type GateOptions } from '../approvals/gate.ts';
import type { ApprovalPolicy } from '../approvals/policy.ts';
import { allowlistCovers, formatAllowlistEntry } from '../approvals/scope.ts';
import type { ApprovalSubject } from '../approvals/subject.ts';
import { compileUserPatterns, type UserPatterns } from '../approvals/user-patterns.ts';
import type { Judgement } from '../approvals/verdict.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/schema.ts';
import { errorMessage } from '../errors.ts';
import type { Log } from '../log.ts';
import type { ApprovalRow } from '../store/approvals.ts';
import type { OutboxRow } from '../store/outbox.ts';
import type { SessionRow } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import { type ApprovalCards, createApprovalCards } from './approval-cards.ts';
import { createDecisionWaiters } from './decision-waiters.ts';
import type { Outbound } from './outbound/outbound.ts';
import { createTimers, type Timers } from './timers.ts';

export interface ApprovalDeskOptions {
  home: string;
  config(): Config;
  store: Store;
  clock: Clock;
  log: Log;
  platforms: ReadonlyMap<string, Platform>;
  allowlist: { add(entries: readonly string[]): Promise<void> };
  preview: GateOptions['preview'];
  smart: GateOptions['smart'];
  yolo: boolean;
  onOutbox(rows: readonly OutboxRow[]): void;
  show: Outbound['show'];
  /** A request was settled: its session can go on. */
  onSettled(row: ApprovalRow): void;
}

/** A longer command may take over 10 ms to judge. */
const judgedInPlaceChars = 4_096;

/** Read by the model. */
const unseen = 'The request could not be shown in the chat, so nobody could decide. Tell the user so.';

/** Everything about approvals in one place: the gate that tools ask, the decisions that people make, the expiry. */
export interface ApprovalDesk {
  gate: ApprovalGate;
  decisions: Decisions;
  timers: Timers;
  closeCopy: ApprovalCards['closeCopy'];
  waitForDecision(id: string, signal: AbortSignal): Promise<ApprovalRow>;
  /** A message was given up; when it was a card, what nobody can see, nobody can approve. */
  notDelivered(row: OutboxRow): void;
}

export function createApprovalDesk(options: ApprovalDeskOptions): ApprovalDesk {
  const { config, store, clock, log, platforms } = options;
  const cards = createApprovalCards({
    home: options.home,
    clock,
    platforms,
    onOutbox: options.onOutbox,
    read: store.read,
    show: options.show,
  });
  const waiters = createDecisionWaiters(store);

  const decisions = createDecisions({
    store,
    clock,
    presentOutcome: cards.presentOutcome,
    async keepAlways(row) {
      const scope = row.ask.kind === 'approval' ? row.ask.scope : null;
      if (scope) await options.allowlist.add(scope.grants.map(formatAllowlistEntry));
    },
    onSettled(row) {
      waiters.settle(row);
      options.onSettled(row);
    },
  });
  const timers = createTimers({ store, clock, log, fire: (row) => decisions.expire(row.ref) });
  const gate = createApprovalGate({
    store,
    clock,
    log,
    judge,
    policy: policyFor,
    allowlisted: (_subject, judgement) => allowlistCovers(config().command_allowlist, judgement),
    preview: options.preview,
    smart: options.smart,
    canShow: cards.canShow,
    present: cards.present,
    onStored: (row) => timers.expect(row.expiresAt),
  });

  let compiled: { from: Config['approvals']; patterns: UserPatterns } | null = null;
  function userPatterns(): UserPatterns {
    const from = config().approvals;
    if (compiled?.from !== from) compiled = { from, patterns: compileUserPatterns(from) };
    return compiled.patterns;
  }

  /** The judge knows the shell's grammar and hundreds of rules: it is loaded with the first command. */
  async function judge(subject: ApprovalSubject): Promise<Judgement> {
    const host = { gatewayHome: options.home, gatewayPid: process.pid };
    if (subject.kind === 'command' && subject.command.length > judgedInPlaceChars) {
      const { command, cwd, home, backend } = subject;
      const { judgeApart } = await import('../approvals/judge-apart.ts');
      return judgeApart({ command, context: { ...host, cwd, home, backend }, lists: config().approvals });
    }
    const { judgeSubject } = await import('../approvals/judge.ts');
    return judgeSubject(subject, host, userPatterns());
  }

  function policyFor(session: SessionRow): ApprovalPolicy {
    const { approvals } = config();
    const isTerminal = session.chat.platform === 'cli';
    return {
      mode: approvals.mode,
      timeoutMs: (isTerminal ? approvals.cli_timeout : approvals.timeout) * 1000,
      allowPermanent: approvals.allow_permanent,
      routine: approvals.routine,
      inContainers: approvals.in_containers,
      smartPolicy: approvals.smart_policy,
      attended: platforms.get(session.chat.platform)?.capabilities.attended ?? false,
      unattended: isTerminal ? approvals.single_query_mode : approvals.unattended_mode,
      yolo: options.yolo || session.settings.yolo === true,
    };
  }

  /** The model is told why, so that the person is: a silent refusal would look like a hang. */
  async function refuseUnseen(id: string): Promise<void> {
    const gateway = { id: 'gateway', name: 'the gateway', isAdmin: true };
    const outcome = await decisions.decide(id, 'deny', gateway, unseen);
    if (outcome.kind === 'not_offered') await decisions.answer(id, `[${unseen}]`, gateway);
  }

  return {
    gate,
    decisions,
    timers,
    closeCopy: cards.closeCopy,
    waitForDecision: waiters.wait,
    notDelivered(row) {
      const id = /^(?:card|file)-(?<id>.+)$/.exec(row.key)?.groups?.['id'];
      if (row.purpose !== 'card' || id === undefined) return;
      refuseUnseen(id).catch((error: unknown) =>
        log.error({ error: errorMessage(error) }, 'a request that nobody can see is left to expire'),
      );
    },
  };
}
