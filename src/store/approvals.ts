import type { ChatAddress, TextSpan } from '../../platforms/platform.ts';
import type { ApprovalSubject } from '../approvals/subject.ts';
import type { DecisionScope } from '../approvals/verdict.ts';

export type Choice = 'once' | 'session' | 'always' | 'deny';

/** A request to a person: an approval of an action, or a question of the `clarify` tool. */
export interface ApprovalRow {
  /** Short, opaque, unguessable: it stands in button ids. */
  id: string;
  sessionKey: string;
  sessionId: string;
  callId: string;
  chat: ChatAddress;
  locale: string;
  /** Who asked, and so may decide beside admins. */
  askerId: string;
  askerName: string;
  ask: ApprovalAsk;
  state: 'pending' | 'decided' | 'expired' | 'superseded';
  createdAt: number;
  expiresAt: number;
  decision: ApprovalDecision | null;
  /** Outbox row of its card. */
  cardId: number | null;
}

export type ApprovalAsk =
  | {
      kind: 'approval';
      subject: ApprovalSubject;
      category: string;
      description: string;
      spans: readonly TextSpan[];
      /** What session and always would remember; null offers once and deny only. */
      scope: DecisionScope | null;
      choices: readonly Choice[];
      preview: string | null;
      /** A smart judge's refusal that the owner may override. */
      smartDenied: boolean;
      /** False when the command could not be shown in full: only Deny is offered. */
      shownInFull: boolean;
    }
  | { kind: 'question'; question: string; choices: readonly string[] };

export interface ApprovalDecision {
  choice: Choice | 'answer';
  byId: string;
  byName: string;
  at: number;
  /** The reason of a denial or the answer to a question. */
  text?: string;
}

export interface ApprovalTable {
  add(row: ApprovalRow): Promise<void>;
  get(id: string): Promise<ApprovalRow | null>;
  byCall(sessionId: string, callId: string): Promise<ApprovalRow | null>;
  /** Pending ones of the session, oldest first. */
  pending(sessionKey: string): Promise<readonly ApprovalRow[]>;
  allPending(): Promise<readonly ApprovalRow[]>;
  countPending(): Promise<number>;
  /** First decision wins: false when it was not pending any more. */
  settle(
    id: string,
    state: 'decided' | 'expired' | 'superseded',
    decision: ApprovalDecision | null,
  ): Promise<boolean>;
  setCard(id: string, outboxId: number): Promise<void>;
  prune(before: number): Promise<void>;
}
