import { z } from 'zod';
import type { Clock } from '../../src/clock.ts';
import { errorMessage } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import type { PlatformMemory } from '../platform.ts';
import type { Workspace } from './workspaces.ts';

const person = z.object({ name: z.string(), locale: z.string().optional(), isBot: z.boolean() });
export type Person = z.infer<typeof person>;

export interface People {
  /**
   * Asks Slack once an hour per person. Until it answers, what was known before stands; for somebody new, after a
   * short wait, the id. Never fails.
   */
  find(workspace: Workspace, userId: string): Promise<Person>;
  /** What is known without asking. */
  peek(workspace: Workspace, userId: string): Person | undefined;
}

const prefix = 'person:';
const keptPeople = 1000;
const freshMs = 3_600_000;
/** An event of somebody new waits no longer for the name: Slack wants its acknowledgement. */
const patienceMs = 400;
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

export interface PeopleDeps {
  memory: PlatformMemory;
  clock: Clock;
  log: Log;
}

/** Names and languages of the people who write, remembered over restarts. */
export function createPeople({ memory, clock, log }: PeopleDeps): People {
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
      const found: Person = {
        name,
        isBot: user.is_bot ?? false,
        ...(user.locale === undefined ? {} : { locale: user.locale }),
      };
      remember(key, found, clock.now());
      await memory.set(`${prefix}${key}`, found);
      return found;
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
      void question.then((found) => {
        cancel();
        resolve(found);
      });
    });
  }

  function remember(key: string, found: Person, at: number): void {
    known.delete(key);
    known.set(key, { person: found, at });
    const oldest = known.keys().next().value;
    if (known.size > keptPeople && oldest !== undefined) known.delete(oldest);
  }

  async function recall(key: string): Promise<Person | undefined> {
    const before = known.get(key)?.person ?? person.safeParse(await memory.get(`${prefix}${key}`)).data;
    if (before !== undefined && !known.has(key)) remember(key, before, 0);
    return before;
  }

  return {
    peek: (workspace, userId) => known.get(`${workspace.teamId}:${userId}`)?.person,
    async find(workspace, userId) {
      const key = `${workspace.teamId}:${userId}`;
      const entry = known.get(key);
      if (entry !== undefined && clock.now() - entry.at < freshMs) return entry.person;
      const question = asking.get(key) ?? ask(workspace, userId, key);
      asking.set(key, question);
      return (await recall(key)) ?? inTime(question, { name: userId, isBot: false });
    },
  };
}
