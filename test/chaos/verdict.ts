import type { StoredMessage } from '../emulators/telegram/world.ts';
import type { Seen } from './person.ts';
import { asksFor, type Ending, endings } from './scripted-model.ts';

/** One send of an answer that took effect. */
export interface AnswerSent {
  id: string;
  /** As `sentKey` names it. */
  key: string;
  at: number;
}

export interface ChatSeen {
  seen: readonly Seen[];
  /** The bot's messages as they stand at the end. */
  shown: readonly StoredMessage[];
}

export interface Evidence {
  chats: readonly ChatSeen[];
  /** Lines of the ledger, which the commands wrote themselves. */
  ledger: readonly string[];
  answersSent: readonly AnswerSent[];
  killsAt: readonly number[];
  unconfirmed: ReadonlySet<string>;
}

export interface Twice {
  byKill: number;
  /** How long after the first answer began to arrive each of these kills had ended the process (ms). */
  killedAfterMs: number[];
  byLostConfirmation: number;
}

export interface Verdict {
  endings: Record<Ending, number>;
  /** Answers shown twice, by what cut their confirmation off. */
  twice: Twice;
  /** Cards shown twice for the same reasons; a press on either decides. */
  cardsTwice: number;
  violations: string[];
}

/** At most this share of the kills may fall between Telegram's acceptance of an answer and its mark. */
const twicePerKill = 0.01;

export function judgeEvidence(evidence: Evidence): Verdict {
  const violations: string[] = [];
  const counts = new Map<string, number>();
  for (const line of evidence.ledger) counts.set(line, (counts.get(line) ?? 0) + 1);
  const endingCounts: Record<Ending, number> = {
    talked: 0,
    ran: 0,
    denied: 0,
    expired: 0,
    unseen: 0,
    unknown: 0,
    failed: 0,
  };
  let cardsTwice = 0;
  for (const chat of evidence.chats) {
    const answers = answersIn(chat.shown);
    violations.push(...orderProblems(chat, answers));
    for (const seen of chat.seen) {
      const ending = answers.find(({ id }) => id === seen.planned.id)?.ending;
      if (ending !== undefined) endingCounts[ending] += 1;
      const problem = endingProblem(seen, ending, counts.get(seen.planned.id) ?? 0);
      if (problem !== null) violations.push(`${seen.planned.id} (${seen.planned.deed}): ${problem}`);
    }
    const cards = cardProblems(chat);
    cardsTwice += cards.twice;
    violations.push(...cards.problems);
  }
  const twice = countTwice(evidence, violations);
  const allowed = Math.ceil(evidence.killsAt.length * twicePerKill);
  if (twice.byKill > allowed)
    violations.push(`${twice.byKill} answers came twice by a kill; at most ${allowed} may`);
  return { endings: endingCounts, twice, cardsTwice, violations };
}

function answersIn(shown: readonly StoredMessage[]): { id: string; ending: Ending }[] {
  return shown.flatMap(({ text }) => {
    const [, id, word] = /^(m\d+x\d+): (\w+)/.exec(text) ?? [];
    const ending = endings.find((known) => known === word);
    return id !== undefined && ending !== undefined ? [{ id, ending }] : [];
  });
}

function orderProblems({ seen }: ChatSeen, answers: readonly { id: string }[]): string[] {
  const lost = seen.filter(({ answered }) => !answered).map(({ planned }) => `${planned.id}: never answered`);
  const first = [...new Set(answers.map(({ id }) => id))];
  const asked = seen.filter(({ answered }) => answered).map(({ planned }) => planned.id);
  const isOrdered = first.join() === asked.join();
  return isOrdered ? lost : [...lost, `out of order: asked ${asked.join()}, answered ${first.join()}`];
}

const refused: readonly Ending[] = ['denied', 'expired', 'unseen'];

/** What a message may have come to, given what was asked and what its person was told. */
function endingProblem(
  { planned, toldDecided }: Seen,
  ending: Ending | undefined,
  lines: number,
): string | null {
  if (lines > 1) return `ran ${lines} times`;
  if (ending === undefined) return lines > 0 ? 'ran, and was never answered' : null;
  const { deed, intent } = planned;
  const consented = deed === 'append' || (deed === 'remove' && intent === 'approve');
  if (lines > 0 && !consented) return `ran although its person meant to ${intent}`;
  if (ending === 'ran' && lines !== 1) return 'was told to have run and did not';
  if (refused.includes(ending) && lines > 0) return `ran, and was told "${ending}"`;
  const fits = fittingEndings(planned, toldDecided);
  return fits.includes(ending) ? null : `ended "${ending}"; expected ${fits.join(' or ')}`;
}

function fittingEndings({ deed, intent }: Seen['planned'], toldDecided: boolean): readonly Ending[] {
  if (deed === 'talk') return ['talked'];
  if (deed === 'append') return ['ran', 'unknown'];
  if (intent === 'ignore') return ['expired', 'unseen'];
  const decided: readonly Ending[] = intent === 'approve' ? ['ran', 'unknown'] : ['denied'];
  // A press that was never confirmed may have come too late, or to a card whose sending counted as failed.
  return toldDecided ? decided : [...decided, 'expired', 'unseen'];
}

function cardProblems({ seen, shown }: ChatSeen): { twice: number; problems: string[] } {
  const problems: string[] = [];
  let twice = 0;
  for (const { planned } of seen.filter((one) => one.planned.deed === 'remove')) {
    const cards = shown.filter(({ text }) => asksFor(text, planned.id) && isCard(text));
    twice += Math.max(0, cards.length - 1);
    if (cards.some(({ keyboard }) => keyboard.length > 0))
      problems.push(`${planned.id}: a card was left with live buttons`);
  }
  return { twice, problems };
}

/** Cards, as opposed to lines of progress, which show the command behind the tool's name. */
function isCard(text: string): boolean {
  return !/^\S+ terminal: /.test(text);
}

/** What a killed process had sent may be read a moment after its end. */
const readAfterEndMs = 50;

function countTwice({ answersSent, killsAt, unconfirmed }: Evidence, violations: string[]): Twice {
  const twice: Twice = { byKill: 0, killedAfterMs: [], byLostConfirmation: 0 };
  const before = new Map<string, AnswerSent>();
  for (const sent of answersSent) {
    const earlier = before.get(sent.id);
    before.set(sent.id, sent);
    if (earlier === undefined) continue;
    const kill = killsAt.find((at) => at >= earlier.at - readAfterEndMs && at <= sent.at);
    // A lost confirmation is enough; a kill before the second try changes nothing then.
    if (unconfirmed.has(earlier.key)) twice.byLostConfirmation += 1;
    else if (kill === undefined)
      violations.push(`${sent.id}: answered twice without a kill or a lost confirmation in between`);
    else {
      twice.byKill += 1;
      twice.killedAfterMs.push(Math.round(kill - earlier.at));
    }
  }
  return twice;
}
