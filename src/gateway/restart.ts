import { messagesFor } from '../messages/messages.ts';
import type { SessionRow } from '../store/sessions.ts';
import type { Transaction } from '../store/store.ts';
import type { Replies } from './replies.ts';

const owner = 'gateway';
const key = 'restartAskedBy';

/** Remembers who asked for a restart, in the transaction that settles the command: it is never carried out twice. */
export async function rememberRestart(tables: Transaction, session: SessionRow): Promise<void> {
  await tables.memory.set(owner, key, session.key);
}

/** Tells the chat that asked for a restart that it is over; once. */
export async function tellRestarted(tables: Transaction, replies: Replies): Promise<void> {
  const sessionKey = await tables.memory.get(owner, key);
  if (typeof sessionKey !== 'string') return;
  await tables.memory.delete(owner, key);
  const session = await tables.sessions.get(sessionKey);
  if (session) await replies.add(tables, session, messagesFor(session.locale).turn.backOnline);
}
