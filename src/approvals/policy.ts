import type { ApprovalSubject } from './subject.ts';
import type { Judgement } from './verdict.ts';

/** The part of the configuration that decides about approvals, read anew for each call. */
export interface ApprovalPolicy {
  mode: 'manual' | 'smart' | 'off';
  timeoutMs: number;
  allowPermanent: boolean;
  /** `allow`: routine deletions (build outputs, temporary folders) are not asked in manual mode either. */
  routine: 'ask' | 'allow';
  inContainers: 'skip' | 'ask';
  smartPolicy: string;
  /** Whether a person can be reached: a chat or a terminal. Unknown means no. */
  attended: boolean;
  /** What happens where no person can be reached. */
  unattended: 'deny' | 'approve';
  /** Yolo, by the process's flag or the session's. */
  yolo: boolean;
}

/** As `detect.ts` has it: not parsed beyond this many characters. */
const longestJudged = 131_072;

export type PolicyStep =
  | { kind: 'allow'; note?: string }
  | { kind: 'refuse'; why: 'forbidden' | 'unattended' | 'tooLong' }
  /** Ask a model first, then perhaps a person. */
  | { kind: 'smart' }
  | { kind: 'ask' };

/**
 * The order of checks for one action. The floor comes first: no mode, allowlist or container passes it. `remembered`
 * tells that the allowlist or a grant of the session covers it.
 */
export function policyStep(
  subject: ApprovalSubject,
  judgement: Judgement,
  policy: ApprovalPolicy,
  remembered: boolean,
): PolicyStep {
  if (judgement.verdict === 'forbidden') return { kind: 'refuse', why: 'forbidden' };
  // A text too long to be parsed could hide anything, the floor included.
  if (judgement.text.length > longestJudged) return { kind: 'refuse', why: 'tooLong' };
  if (judgement.verdict === 'safe') return { kind: 'allow' };
  if (subject.kind === 'command' && subject.isolated && policy.inContainers === 'skip')
    return { kind: 'allow', note: 'in an isolated sandbox' };
  if (policy.yolo || policy.mode === 'off') return { kind: 'allow', note: 'approvals are off' };
  if (remembered) return { kind: 'allow', note: 'allowed before' };
  if (judgement.routine && (policy.routine === 'allow' || policy.mode === 'smart')) {
    return { kind: 'allow', note: 'routine' };
  }
  if (policy.mode === 'smart' && subject.kind === 'command') return { kind: 'smart' };
  if (policy.attended) return { kind: 'ask' };
  if (policy.unattended === 'approve')
    return { kind: 'allow', note: 'approved unattended, by the configuration' };
  return { kind: 'refuse', why: 'unattended' };
}
