import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';

/**
 * Stores a notice for a session: a message that no person wrote. It waits its turn, interrupts nothing and passes no
 * allowlist, since the gateway itself says it. One with the same `key` arrives once, however often it is told.
 * Resolves with the session's key, or null when the session is gone.
 */
export async function storeNotice(
  store: Store,
  clock: Clock,
  notice: { sessionId: string; text: string; key: string },
): Promise<string | null> {
  const session = await store.read.sessions.bySessionId(notice.sessionId);
  if (!session) return null;
  const now = clock.now();
  const eventId = `notice:${notice.key}`;
  await store.transaction((tables) =>
    tables.inbox.add({
      platform: session.chat.platform,
      eventId,
      sessionKey: session.key,
      event: {
        eventId,
        kind: 'message',
        chat: session.chat,
        sender: { id: session.userId, name: session.userName, isBot: false },
        messageId: eventId,
        text: `[Notice from the gateway, not from the user: ${notice.text}]`,
        addressed: true,
        attachments: [],
        sentAt: now,
      },
      state: 'new',
      role: 'turn',
      groupKey: eventId,
      readyAt: now,
      receivedAt: now,
    }),
  );
  return session.key;
}
