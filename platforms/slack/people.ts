import { z } from 'zod';
import type { Clock } from '../../src/clock.ts';
import { errorMessage } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { Workspace } from './workspaces.ts';

export interface Person {
  name: string;
  locale?: string;
  isBot: boolean;
}

export interface People {
  /** Asks Slack once an hour per person; without an answer in time the id stands for the name. Never fails. */
  find(workspace: Workspace, userId: string): Promise<Person>;
  /** What is known without asking. */
  peek(workspace: Workspace, userId: string): Person | undefined;
}

const keptPeople = 1000;
const freshMs = 3_600_000;
/** An event waits no longer for a name: its acknowledgement is due within 200 ms. */
const patienceMs = 120;
/** The question itself may take longer; the answer is there for the next event. */
const answerTimeoutMs = 5000;

const answer = z.object({
  user: z.object({
    name: z.string().optional(),
    real_name: z.string().optional(),
    locale: z.string().optional(),
    is_bot: z.boolean().optional(),
    profile: z.object({ display_name: z.string().optional(), real_name: z.string().optional() }).optional(),
  }),
});

/** Names and languages of the people who write, remembered in bounded memory. */
export function createPeople({ clock, log }: { clock: Clock; log: Log }): People {
  const known = new Map<string, { person: Person; at: number }>();
  const asking = new Map<string, Promise<Person>>();

  async function ask(workspace: Workspace, userId: string, key: string): Promise<Person> {
    try {
      const args = { user: userId, include_locale: true };
      const { user } = await workspace.api.call(
        answer,
        'users.info',
        args,
        AbortSignal.timeout(answerTimeoutMs),
      );
      const name =
        user.profile?.display_name || user.real_name || user.profile?.real_name || user.name || userId;
      const person: Person = {
        name,
        isBot: user.is_bot ?? false,
        ...(user.locale === undefined ? {} : { locale: user.locale }),
      };
      remember(key, person);
      return person;
    } catch (error) {
      log.debug({ reason: errorMessage(error) }, 'Slack did not tell who a user is');
      return { name: userId, isBot: false };
    } finally {
      asking.delete(key);
    }
  }

  function inTime(question: Promise<Person>, otherwise: Person): Promise<Person> {
    return new Promise((resolve) => {
      const cancel = clock.after(patienceMs, () => resolve(otherwise));
      void question.then((person) => {
        cancel();
        resolve(person);
      });
    });
  }

  function remember(key: string, person: Person): void {
    known.delete(key);
    known.set(key, { person, at: clock.now() });
    const oldest = known.keys().next().value;
    if (known.size > keptPeople && oldest !== undefined) known.delete(oldest);
  }

  function peek(workspace: Workspace, userId: string): Person | undefined {
    const entry = known.get(`${workspace.teamId}:${userId}`);
    return entry !== undefined && clock.now() - entry.at < freshMs ? entry.person : undefined;
  }

  return {
    peek,
    async find(workspace, userId) {
      const fresh = peek(workspace, userId);
      if (fresh !== undefined) return fresh;
      const key = `${workspace.teamId}:${userId}`;
      const question = asking.get(key) ?? ask(workspace, userId, key);
      asking.set(key, question);
      return inTime(question, { name: userId, isBot: false });
    },
  };
}
