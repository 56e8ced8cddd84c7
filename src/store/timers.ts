/** One thing to do at a time: expiries, reminders, cron. Survives restarts. */
export interface TimerRow {
  /** Unique; setting it again moves it. */
  id: string;
  kind: 'approval_expiry';
  /** What it is about, such as the approval's id. */
  ref: string;
  dueAt: number;
}

export interface TimerTable {
  set(row: TimerRow): Promise<void>;
  clear(id: string): Promise<void>;
  due(now: number): Promise<readonly TimerRow[]>;
  nextDueAt(): Promise<number | null>;
}
