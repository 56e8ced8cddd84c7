/** The journal of tool calls: a call that is started but not finished after a crash has an unknown outcome. */
export interface ToolRunTable {
  start(sessionId: string, callIds: readonly string[], at: number): Promise<void>;
  finish(sessionId: string, callIds: readonly string[], at: number): Promise<void>;
  /** Ids among `callIds` that were started and never finished. */
  unfinished(sessionId: string, callIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Whether some call of the session was started and never finished. */
  hasOpen(sessionId: string): Promise<boolean>;
  prune(before: number): Promise<void>;
}
