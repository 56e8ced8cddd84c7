export interface ResetPolicy {
  mode: 'both' | 'daily' | 'idle' | 'none';
  /** Local hour of the daily boundary. */
  atHour: number;
  idleMinutes: number;
}

export type ResetReason = 'idle' | 'daily';

/** Why a session last active at `updatedAt` (ms) begins anew now, or null. */
export function resetReason(policy: ResetPolicy, updatedAt: number, now: number): ResetReason | null {
  const idle = policy.mode === 'idle' || policy.mode === 'both';
  const daily = policy.mode === 'daily' || policy.mode === 'both';
  if (daily && updatedAt < lastBoundary(policy.atHour, now)) return 'daily';
  if (idle && now > updatedAt + policy.idleMinutes * 60_000) return 'idle';
  return null;
}

/** The latest moment at or before `now` at which local clocks showed `hour`:00, summer time included. */
function lastBoundary(hour: number, now: number): number {
  const boundary = new Date(now);
  boundary.setHours(hour, 0, 0, 0);
  if (boundary.getTime() > now) boundary.setDate(boundary.getDate() - 1);
  return boundary.getTime();
}
