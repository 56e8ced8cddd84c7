import type { ErrorCode, GatewayError } from '../errors.ts';
import { en } from './en.ts';
import { ru } from './ru.ts';

/** What ends an approval, for the line that replaces its buttons. */
export type OutcomeWords =
  | { kind: 'approved'; choice: 'once' | 'session' | 'always'; by: string; time: string }
  | { kind: 'denied'; by: string; time: string; reason?: string }
  | { kind: 'answered'; by: string; answer: string }
  | { kind: 'expired' }
  | { kind: 'superseded' };

/** Every text that a person reads, once a language. Short and plain; names and paths come in as they are. */
export interface Messages {
  card: {
    title: string;
    /** "This deletes files recursively." */
    why: string;
    where: string;
    reach: string;
    reachUnknown: string;
    askedBy: string;
    /** What Session and Always would remember. */
    remembers: string;
    expiresIn(minutes: number): string;
    once: string;
    session: string;
    always: string;
    deny: string;
    confirmAlways: string;
    /** The way back out of that question. */
    cancel: string;
    denyReason: string;
    smartDenied: string;
    tooLong: string;
    place(backend: string, cwd: string): string;
    outcome(words: OutcomeWords): string;
  };
  question: { title: string; other: string; otherHint: string };
  press: {
    notYours(asker: string): string;
    already: string;
    expired: string;
    unknown: string;
    notOffered: string;
    stranger: string;
    approved: string;
    denied: string;
    answered: string;
    typeAnswer: string;
    notKept(reason: string): string;
  };
  busy: {
    interrupt: string;
    queue(position: number): string;
    steer: string;
    full(limit: number): string;
  };
  turn: {
    budgetSpent: string;
    emptyReply: string;
    /** A failure with the step that mends it, and the id under which the log has it. */
    failed(what: string, mend: string | null, errorId: string): string;
    gaveUp(errorId: string): string;
    stalled(errorId: string): string;
    stopped: string;
    longAnswer(name: string): string;
    reset(reason: 'idle' | 'daily'): string;
    backOnline: string;
    restarting: string;
    fileMissing(path: string): string;
    attachment(name: string, path: string): string;
    attachmentFailed(name: string, why: string): string;
    deliveryFailed: string;
  };
  /** What adapters say on their own account. */
  adapter: {
    /** Follows the bot's name in a Slack thread. */
    thinking: string;
    /** Offered to whoever opens Slack's assistant panel: what a first message could be. At most four. */
    prompts: readonly { title: string; message: string }[];
    notInThisChannel: string;
    notStored: string;
  };
  /** What a failure is called in this language. Empty where errors are written in it already: they say more. */
  failures: ReadonlyMap<ErrorCode, { what: string; mend: string }>;
  access: { pairing(code: string, platform: string): string };
  commands: {
    /** One line a command, by its name. */
    about: { readonly [name: string]: string };
    unknown(name: string): string;
    busy(name: string): string;
    help: string;
    fresh: string;
    stopped(what: { turn: boolean; processes: number; queued: number }): string;
    nothingToStop: string;
    nothingPending: string;
    approvedCount(count: number): string;
    deniedCount(count: number): string;
    status(facts: {
      session: string;
      state: string;
      queued: number;
      pending: number;
      processes: number;
      model: string;
      uptime: string;
    }): string;
    toolsets(names: string, tools: number): string;
    queued: string;
    steered: string;
    needsText(name: string): string;
    nothingToRetry: string;
    undone(text: string): string;
    nothingToUndo: string;
    usage(facts: { turns: number; inputTokens: number; outputTokens: number }): string;
    whoami(facts: { name: string; id: string; platform: string; admin: boolean; session: string }): string;
    homeSet: string;
    adminsOnly: string;
    allowlist(entries: readonly string[]): string;
    forgotten(entry: string): string;
    notFound(entry: string): string;
  };
}

const catalogues: ReadonlyMap<string, Messages> = new Map([
  ['en', en],
  ['ru', ru],
]);

/** The catalogue for a BCP 47 tag (`ru`, `ru-RU`); English where there is none. */
export function messagesFor(locale: string | undefined): Messages {
  return catalogues.get(locale?.toLowerCase().split(/[-_]/)[0] ?? 'en') ?? en;
}

/** A failure that ended a turn, in the reader's language, with its next step and the id that the log has. */
export function failureText(messages: Messages, error: GatewayError, errorId: string): string {
  const { what, mend } = messages.failures.get(error.code) ?? {
    what: error.message,
    mend: error.mend ?? null,
  };
  return messages.turn.failed(what, mend, errorId);
}
