import { GatewayError } from '../../errors.ts';
import type { Tables } from '../../store/store.ts';

/**
 * Proves within a transaction that this process still works on the session. A process that slept or stalled until
 * another took over writes nothing more: rejects with `cancelled`.
 */
export async function proveLease(tables: Tables, sessionKey: string, fence: number): Promise<void> {
  if (await tables.sessions.holds(sessionKey, fence)) return;
  throw new GatewayError('cancelled', 'This session is worked on elsewhere now.');
}
