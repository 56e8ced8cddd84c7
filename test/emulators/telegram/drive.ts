import type { TelegramEmulator } from './telegram-emulator.ts';
import type { UserHandle } from './user.ts';
import { type Fields, isFields } from './wire.ts';

export interface DrivePlan {
  people: number;
  /** How many messages each of them writes. */
  messages: number;
}

/** One answered message, in epoch milliseconds. */
export interface DrivenTurn {
  /** When the bot was given the message. */
  handedOutAt: number;
  /** When the request with the answer began to arrive. */
  answeredAt: number;
}

export interface Driven {
  turns: DrivenTurn[];
  wallMs: number;
  lost: number;
  /** Answers that came twice, or to another message than the one that waited. */
  disordered: number;
}

interface Waiting {
  id: string;
  handedOutAt: number;
  answered(at: number): void;
}

const answerWithinMs = 30_000;

/** Plays people who each write their next message once the last was answered; the model must echo what was said. */
export async function drive(emulator: TelegramEmulator, plan: DrivePlan): Promise<Driven> {
  const waiting = new Map<number, Waiting>();
  const turns: DrivenTurn[] = [];
  let lost = 0;
  let disordered = 0;

  const stopWatching = emulator.watch({
    handedOut(updates, at) {
      for (const { message } of updates) {
        const one =
          isFields(message) && isFields(message['chat']) && waiting.get(Number(message['chat']['id']));
        if (one) one.handedOutAt = at;
      }
    },
    called(_method, fields, at) {
      const said = /turn (\d+x\d+x\d+)/.exec(textOf(fields))?.[1];
      const one = waiting.get(Number(fields['chat_id']));
      if (said === undefined) return;
      if (one?.id === said) one.answered(at);
      else disordered += 1;
    },
  });

  async function write({ chat, says }: UserHandle, id: string): Promise<void> {
    const answer = Promise.withResolvers<number | null>();
    const one: Waiting = { id, handedOutAt: 0, answered: answer.resolve };
    waiting.set(chat.id, one);
    says(`turn ${id}`);
    const timer = setTimeout(() => answer.resolve(null), answerWithinMs);
    const answeredAt = await answer.promise;
    clearTimeout(timer);
    waiting.delete(chat.id);
    if (answeredAt === null) lost += 1;
    else turns.push({ handedOutAt: one.handedOutAt, answeredAt });
  }

  const people = Array.from({ length: plan.people }, (_, index) => emulator.addUser(`Person ${index}`));
  const startedAt = performance.now();
  await Promise.all(
    people.map(async (person) => {
      for (let count = 0; count < plan.messages; count += 1)
        await write(person, `${person.person.id}x${count}x${plan.messages}`);
    }),
  );
  stopWatching();
  return { turns, wallMs: performance.now() - startedAt, lost, disordered };
}

/** What a call would show. */
function textOf(fields: Fields): string {
  const { text, rich_message: rich } = fields;
  if (isFields(rich)) return String(rich['markdown'] ?? '');
  return String(text ?? '');
}
