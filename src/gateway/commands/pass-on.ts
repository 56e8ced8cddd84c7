import type { InboxRow } from '../../store/inbox.ts';
import type { CommandCall } from './command.ts';

/** Stores the command's text as a message of its own, in the transaction that ends the command. */
export async function passOn(call: CommandCall, role: InboxRow['role'], said: string): Promise<void> {
  const { args, row, session, ports, messages, reply } = call;
  if (args === '') return reply(messages.commands.needsText(role === 'steer' ? 'steer' : 'queue'));
  const now = ports.clock.now();
  const eventId = `${row.event.eventId}/text`;
  await reply(said, async (tables) => {
    await tables.inbox.add({
      platform: session.chat.platform,
      eventId,
      sessionKey: session.key,
      event: { ...row.event, eventId, text: args },
      state: 'new',
      role,
      groupKey: eventId,
      readyAt: now,
      receivedAt: now,
    });
  });
  ports.lanes.wake(session.key);
}
