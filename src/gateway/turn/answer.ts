import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutboundContent, Payload, Platform } from '../../../platforms/platform.ts';
import type { Clock } from '../../clock.ts';
import type { Messages } from '../../messages/messages.ts';
import type { NewOutboxRow, OutboxOp } from '../../store/outbox.ts';
import type { SessionRow } from '../../store/sessions.ts';
import type { Store } from '../../store/store.ts';
import { outboxKey } from '../outbound/attempt.ts';
import { chatKeyOf } from '../session-key.ts';
import { headOf } from '../text.ts';
import { takeMedia } from './media-out.ts';

export interface AnswerOptions {
  store: Store;
  clock: Clock;
  home: string;
  platform: Platform;
  session: SessionRow;
  messages: Messages;
  /** More messages than this become one file. */
  maxMessages: number;
  /** The message that an answer refers to, where replies are shown. */
  replyTo: string | undefined;
}

/**
 * The outbox rows that deliver a text of the model: split for the platform, files attached, a text far too long as
 * a file. A message that already streamed a part of it is edited into its first piece.
 */
export async function answerRows(
  text: string,
  purpose: 'final' | 'interim',
  options: AnswerOptions,
): Promise<readonly NewOutboxRow[]> {
  const { platform, session, messages } = options;
  const media = await takeMedia(text, options.home);
  const notes = media.missing.map((path) => messages.turn.fileMissing(path));
  const markdown = [media.text, ...notes].filter((part) => part !== '').join('\n\n');
  let payloads = markdown === '' ? [] : platform.render({ kind: 'text', markdown });
  const files: OutboundContent[] = media.files.map((file) => ({ kind: 'file', ...file }));
  if (payloads.length > options.maxMessages && platform.capabilities.files) {
    const { path, name } = await saveLongAnswer(markdown, options);
    payloads = platform.render({
      kind: 'text',
      markdown: `${headOf(markdown, 600)}…\n\n${messages.turn.longAnswer(name)}`,
    });
    files.unshift({ kind: 'file', path, name, as: 'document' });
  }
  const stream = await options.store.read.outbox.openStream(session.key);
  const all = [...payloads, ...files.flatMap((file) => platform.render(file))];
  return all.map((payload, index) => {
    const op: OutboxOp =
      index === 0 && stream && payloads.length > 0
        ? { kind: 'edit', of: stream.id, payload, orSend: true }
        : send(payload, index === 0 ? options.replyTo : undefined);
    return newRow(session, op, purpose, options.clock.now());
  });
}

async function saveLongAnswer(
  markdown: string,
  { home, clock }: AnswerOptions,
): Promise<{ path: string; name: string }> {
  const folder = join(home, 'cache', 'outgoing');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `answer-${clock.now().toString(36)}.md`;
  const path = join(folder, name);
  await writeFile(path, markdown, { mode: 0o600 });
  return { path, name };
}

function send(payload: Payload, replyTo?: string): OutboxOp {
  return { kind: 'send', payload, ...(replyTo !== undefined && { replyTo }) };
}

/** One outbox row for a session's chat. */
export function newRow(
  target: Pick<SessionRow, 'key' | 'chat'>,
  op: OutboxOp,
  purpose: NewOutboxRow['purpose'],
  now: number,
): NewOutboxRow {
  return {
    platform: target.chat.platform,
    chat: target.chat,
    chatKey: chatKeyOf(target.chat),
    sessionKey: target.key,
    op,
    purpose,
    key: outboxKey(),
    createdAt: now,
  };
}
