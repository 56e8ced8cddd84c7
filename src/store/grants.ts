import type { DecisionScope } from '../approvals/verdict.ts';

/** What a person allowed for one session. Gone with /new, reset and the session's end. */
export interface GrantTable {
  add(sessionKey: string, scope: DecisionScope, at: number): Promise<void>;
  list(sessionKey: string): Promise<readonly DecisionScope[]>;
  clear(sessionKey: string): Promise<void>;
}
