import type { Decider } from '../../approvals/decide.ts';
import { errorMessage } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { messagesFor } from '../../messages/messages.ts';
import type { InboxRow } from '../../store/inbox.ts';
import type { Transaction } from '../../store/store.ts';
import type { Replies } from '../replies.ts';
import type { CommandPorts } from './command.ts';
import { commands } from './index.ts';
import { parseCommand } from './parse.ts';

export interface RunCommandOptions {
  ports: CommandPorts;
  replies: Replies;
  log: Log;
  language(row: Pick<InboxRow, 'event'>): string;
}

/**
 * Carries out a stored command. What it changes and the mark that it was handled go in one transaction wherever
 * doing it twice would matter, so a command that a crash cut short is carried out once at the next start.
 */
export async function runCommand(
  row: Pick<InboxRow, 'id' | 'event' | 'sessionKey'>,
  isAdmin: boolean,
  { ports, replies, log, language }: RunCommandOptions,
): Promise<void> {
  const { store, lanes } = ports;
  const session = await store.read.sessions.get(row.sessionKey);
  const parsed = parseCommand(row.event.text);
  if (!session || !parsed) return;
  const messages = messagesFor(language(row));
  const handled = (tables: Transaction) => tables.inbox.setState([row.id], 'done');
  const reply = async (markdown: string, also?: (tables: Transaction) => Promise<void>) => {
    await store.transaction(async (tables) => {
      await handled(tables);
      await also?.(tables);
      const { chat, messageId } = row.event;
      // In a shared chat the answer is for who asked; a DM is private as it is.
      const how = chat.kind === 'dm' ? undefined : { replyTo: messageId, private: true };
      await replies.add(tables, { key: session.key, chat }, markdown, how);
    });
  };
  const command = commands.get(parsed.name);
  if (!command) return reply(messages.commands.unknown(parsed.name));
  if (command.adminOnly && !isAdmin) return reply(messages.commands.adminsOnly);
  const busy = session.turn !== 'idle' || lanes.isRunning(session.key);
  if (busy && !command.whileBusy) return reply(messages.commands.busy(parsed.name));
  const by: Decider = { id: row.event.sender.id, name: row.event.sender.name, isAdmin };
  try {
    await command.run({ args: parsed.args, session, by, messages, row, ports, handled, reply });
  } catch (error) {
    log.error({ command: parsed.name, error: errorMessage(error) }, 'a command failed');
    await reply(messages.turn.failed(errorMessage(error), null, String(row.id)));
  }
}
