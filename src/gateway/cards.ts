import type { ButtonStyle, Card, CardBlock, CardButton } from '../../platforms/platform.ts';
import { scopeText } from '../approvals/scope.ts';
import type { ApprovalSubject } from '../approvals/subject.ts';
import { type Messages, messagesFor, type OutcomeWords } from '../messages/messages.ts';
import type { ApprovalAsk, ApprovalRow, Choice } from '../store/approvals.ts';
import { shownAction, shownFact } from './shown-text.ts';
import { headOf } from './text.ts';

/** What stands in a button's id: the request and the choice, well under the 64 bytes of Telegram. */
const buttonPattern = /^ap:(?<id>[A-Za-z0-9_-]{1,24}):(?<choice>once|session|always|deny|other|\d{1,2})$/;

export type PressedButton =
  | { id: string; choice: Choice }
  | { id: string; answer: number }
  | { id: string; other: true };

export function readButton(buttonId: string): PressedButton | null {
  const groups = buttonPattern.exec(buttonId)?.groups;
  const { id, choice } = groups ?? {};
  if (id === undefined || choice === undefined) return null;
  if (choice === 'other') return { id, other: true };
  if (choice === 'once' || choice === 'session' || choice === 'always' || choice === 'deny')
    return { id, choice };
  return { id, answer: Number(choice) };
}

/** The head of an action that is shown on the card when the whole goes as a file. */
const headUnits = 600;

/** The card of a pending request. With `headOnly` the whole action is in the file sent before it. */
export function requestCard(row: ApprovalRow, now: number, headOnly: boolean): Card {
  const messages = messagesFor(row.locale);
  const blocks =
    row.ask.kind === 'question' ? questionBlocks(row.ask) : approvalBlocks(row, row.ask, messages, headOnly);
  const minutes = Math.max(1, Math.round((row.expiresAt - now) / 60_000));
  const isApproval = row.ask.kind === 'approval';
  return {
    title: isApproval ? messages.card.title : messages.question.title,
    tone: isApproval ? 'warning' : 'question',
    blocks,
    buttons:
      row.ask.kind === 'question'
        ? questionButtons(row.id, row.ask.choices, messages)
        : approvalButtons(row.id, row.ask, messages),
    footer: isApproval ? messages.card.expiresIn(minutes) : messages.question.otherHint,
    expiresAt: row.expiresAt,
  };
}

/** The card that takes its place: what was asked, how it ended, no buttons. */
export function outcomeCard(row: ApprovalRow, headOnly: boolean): Card {
  const messages = messagesFor(row.locale);
  const words = outcomeWords(row);
  const blocks: CardBlock[] =
    row.ask.kind === 'question' ? questionBlocks(row.ask) : [codeBlock(row.ask, headOnly)];
  const good = words.kind === 'approved' || words.kind === 'answered';
  return {
    title: messages.card.outcome(words),
    tone: good ? 'success' : words.kind === 'denied' ? 'danger' : 'neutral',
    blocks,
    buttons: [],
  };
}

function outcomeWords(row: ApprovalRow): OutcomeWords {
  const { decision } = row;
  if (row.state === 'expired') return { kind: 'expired' };
  if (row.state !== 'decided' || !decision) return { kind: 'superseded' };
  const by = decision.byName;
  const time = new Date(decision.at).toTimeString().slice(0, 5);
  if (decision.choice === 'answer') return { kind: 'answered', by, answer: decision.text ?? '' };
  if (decision.choice === 'deny')
    return { kind: 'denied', by, time, ...(decision.text && { reason: decision.text }) };
  return { kind: 'approved', choice: decision.choice, by, time };
}

type Approval = Extract<ApprovalAsk, { kind: 'approval' }>;

function approvalBlocks(row: ApprovalRow, ask: Approval, messages: Messages, headOnly: boolean): CardBlock[] {
  const { card } = messages;
  const facts = [{ label: card.why, text: ask.description }];
  if (ask.subject.kind === 'command') {
    facts.push({ label: card.where, text: card.place(ask.subject.backend, ask.subject.cwd) });
    facts.push({ label: card.reach, text: ask.preview ?? card.reachUnknown });
  }
  facts.push({ label: card.askedBy, text: row.askerName });
  if (ask.scope && ask.choices.includes('session')) {
    const cwd = ask.subject.kind === 'command' ? ask.subject.cwd : undefined;
    facts.push({ label: card.remembers, text: scopeText(ask.scope, cwd) });
  }
  const warnings: CardBlock[] = [];
  if (ask.smartDenied) warnings.push({ kind: 'text', text: card.smartDenied });
  if (!ask.shownInFull) warnings.push({ kind: 'text', text: card.tooLong });
  return [
    codeBlock(ask, headOnly),
    { kind: 'facts', facts: facts.map(({ label, text }) => ({ label, text: shownFact(text) })) },
    ...warnings,
  ];
}

function codeBlock(ask: Approval, headOnly: boolean): CardBlock {
  const whole = actionText(ask.subject);
  const text = shownAction(whole);
  // Marks point into the command as it is written; where something was replaced they would point elsewhere.
  const marks = text === whole ? ask.spans : [];
  if (!headOnly) return { kind: 'code', text, marks };
  return {
    kind: 'code',
    text: `${headOf(text, headUnits)}…`,
    marks: marks.filter((span) => span.end <= headUnits),
  };
}

/** The whole of what would be done, as text. */
export function actionText(subject: ApprovalSubject): string {
  switch (subject.kind) {
    case 'command':
      return subject.command;
    case 'write':
      return `write ${subject.path}`;
    case 'script':
      return subject.code;
    case 'rule':
      return `${subject.tool}: ${subject.reason}`;
  }
}

const styles: { readonly [choice in Choice]: ButtonStyle } = {
  once: 'success',
  session: 'primary',
  always: 'primary',
  deny: 'danger',
};

function approvalButtons(id: string, ask: Approval, { card }: Messages): CardButton[][] {
  const buttons = ask.choices.map(
    (choice): CardButton => ({
      id: `ap:${id}:${choice}`,
      label: card[choice],
      style: styles[choice],
      ...(choice === 'always' && { confirm: card.confirmAlways, cancelLabel: card.cancel }),
      ...(choice === 'deny' && { askInput: card.denyReason }),
    }),
  );
  return inRows(buttons, 2);
}

function questionBlocks(ask: Extract<ApprovalAsk, { kind: 'question' }>): CardBlock[] {
  return [{ kind: 'text', text: ask.question }];
}

function questionButtons(id: string, choices: readonly string[], messages: Messages): CardButton[][] {
  const buttons = choices.map(
    (label, index): CardButton => ({ id: `ap:${id}:${index}`, label, style: 'neutral' }),
  );
  return [
    ...inRows(buttons, 1),
    [{ id: `ap:${id}:other`, label: messages.question.other, style: 'primary' }],
  ];
}

function inRows(buttons: readonly CardButton[], perRow: number): CardButton[][] {
  const rows: CardButton[][] = [];
  for (let index = 0; index < buttons.length; index += perRow)
    rows.push(buttons.slice(index, index + perRow));
  return rows;
}
