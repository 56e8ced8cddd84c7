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

/** What happens at an emulator, as it happens. Times are epoch milliseconds, with their fractions. */
export interface DriveWatcher {
  /** Something said in this chat is on its way to the bot. */
  handedOut(chat: string, at: number): void;
  /** The bot's request to show a text in this chat; `at` is when it began to arrive. */
  showed(chat: string, text: string, at: number): void;
}

/** An emulator, as far as driving needs it. */
export interface Drivable {
  addPerson(name: string): { chat: string; says(text: string): void };
  /** Returns how to stop watching. */
  watch(watcher: DriveWatcher): () => void;
}

interface Waiting {
  id: string;
  handedOutAt: number;
  answered(at: number): void;
}

const answerWithinMs = 30_000;

/** Plays people who each write their next message once the last was answered; the model must echo what was said. */
export async function drive({ addPerson, watch }: Drivable, plan: DrivePlan): Promise<Driven> {
  const waiting = new Map<string, Waiting>();
  const turns: DrivenTurn[] = [];
  let lost = 0;
  let disordered = 0;

  const stopWatching = watch({
    handedOut(chat, at) {
      const one = waiting.get(chat);
      if (one) one.handedOutAt = at;
    },
    showed(chat, text, at) {
      const said = /turn (\w+x\d+x\d+)/.exec(text)?.[1];
      if (said === undefined) return;
      const one = waiting.get(chat);
      if (one?.id === said) one.answered(at);
      else disordered += 1;
    },
  });

  async function write({ chat, says }: ReturnType<typeof addPerson>, id: string): Promise<void> {
    const answer = Promise.withResolvers<number | null>();
    const one: Waiting = { id, handedOutAt: 0, answered: answer.resolve };
    waiting.set(chat, one);
    says(`turn ${id}`);
    const timer = setTimeout(() => answer.resolve(null), answerWithinMs);
    const answeredAt = await answer.promise;
    clearTimeout(timer);
    waiting.delete(chat);
    if (answeredAt === null) lost += 1;
    else turns.push({ handedOutAt: one.handedOutAt, answeredAt });
  }

  const people = Array.from({ length: plan.people }, (_, index) => addPerson(`Person ${index}`));
  const startedAt = performance.now();
  await Promise.all(
    people.map(async (person) => {
      for (let count = 0; count < plan.messages; count += 1)
        await write(person, `${person.chat.replace(/\W/g, '')}x${count}x${plan.messages}`);
    }),
  );
  stopWatching();
  return { turns, wallMs: performance.now() - startedAt, lost, disordered };
}

export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}
