/** One security event. Each row holds the hash of the one before, so a changed or missing row shows. */
export interface AuditRow {
  seq: number;
  at: number;
  event: string;
  sessionKey: string;
  actor: string;
  detail: string;
  prevHash: string;
  hash: string;
}

export type NewAuditRow = Pick<AuditRow, 'at' | 'event' | 'sessionKey' | 'actor' | 'detail'>;

export interface AuditTable {
  append(row: NewAuditRow): Promise<void>;
  list(options: { limit: number; afterSeq?: number }): Promise<readonly AuditRow[]>;
  /** The first row whose hash or link is wrong, or null. */
  verify(): Promise<{ rows: number; brokenAt: number | null }>;
}
