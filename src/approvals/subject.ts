/** What an approval is about, and the answer that the asker gets. Shared by tools, agent and approvals. */

export type ApprovalSubject =
  /** A shell command, judged by `detectDangerousCommand`. */
  | { kind: 'command'; command: string; cwd: string; home: string; backend: string; isolated: boolean }
  /** A write to a guarded file, such as the agent's own instructions. */
  | { kind: 'write'; path: string; reason: string }
  /** A whole script of `execute_code`. */
  | { kind: 'script'; language: string; code: string }
  /** A plugin's or hook's rule that asks a human. */
  | { kind: 'rule'; key: string; tool: string; reason: string };

export type Approval =
  /** `note` goes into the tool's result, such as "approved by Ann for this session". */
  | { approved: true; note?: string }
  /** `message` is written for the model: what happened and that it must not try another way. */
  | { approved: false; status: 'blocked' | 'pending_approval'; message: string };
