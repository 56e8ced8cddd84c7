import type { Press, PressReply } from '../../platforms/platform.ts';
import type { DecideOutcome, Decider, Decisions } from '../approvals/decide.ts';
import { errorMessage } from '../errors.ts';
import { messagesFor } from '../messages/messages.ts';
import type { ApprovalRow } from '../store/approvals.ts';
import type { Store } from '../store/store.ts';
import { type AccessRules, accessOf } from './access.ts';
import { type PressedButton, readButton } from './cards.ts';
import type { Pairing } from './pairing.ts';
import { chatKeyOf } from './session-key.ts';

export interface PressesOptions {
  store: Store;
  decisions: Decisions;
  pairing: Pairing;
  access(platform: string): AccessRules;
  language(press: Press): string;
  /** A card of a settled request was pressed, in the chat that the request belongs to. */
  onSettledCard(row: ApprovalRow, messageId: string): void;
}

/** Resolves a press on a card: the same authorisation as a message, one resolver, an answer at once. */
export function createPresses(options: PressesOptions): (press: Press) => Promise<PressReply> {
  const { store, decisions } = options;

  async function resolve(button: PressedButton, by: Decider, press: Press): Promise<DecideOutcome> {
    const row = await store.read.approvals.get(button.id);
    // The same id is another person elsewhere, and an admin is one on his own platform alone.
    if (row?.chat.platform !== press.chat.platform) return { kind: 'unknown' };
    if ('choice' in button) return decisions.decide(button.id, button.choice, by, press.input);
    if (row.ask.kind !== 'question' || 'other' in button) return { kind: 'unknown' };
    return decisions.answer(button.id, row.ask.choices[button.answer] ?? '', by);
  }

  return async (press) => {
    const { press: words } = messagesFor(options.language(press));
    const refuse = (text: string): PressReply => ({ text, alert: true });
    const caller = { sender: press.sender, chat: press.chat, addressed: true };
    const { platform } = press.chat;
    const access = await accessOf(caller, options.access(platform), (id) =>
      options.pairing.isApproved(platform, id),
    );
    if (access.kind === 'stranger') return refuse(words.stranger);
    const button = readButton(press.buttonId);
    if (!button) return refuse(words.unknown);
    if ('other' in button) return { text: words.typeAnswer, alert: false };
    try {
      const by = { id: press.sender.id, name: press.sender.name, isAdmin: access.isAdmin };
      const outcome = await resolve(button, by, press);
      const isSettled = outcome.kind === 'decided' || outcome.kind === 'already';
      if (isSettled && chatKeyOf(outcome.row.chat) === chatKeyOf(press.chat))
        options.onSettledCard(outcome.row, press.messageId);
      switch (outcome.kind) {
        case 'decided': {
          const choice = outcome.row.decision?.choice;
          return {
            text: choice === 'deny' ? words.denied : choice === 'answer' ? words.answered : words.approved,
            alert: false,
          };
        }
        case 'not_yours':
          return refuse(words.notYours(outcome.row.askerName));
        case 'already':
          return refuse(outcome.row.state === 'expired' ? words.expired : words.already);
        case 'not_offered':
          return refuse(words.notOffered);
        case 'unknown':
          return refuse(words.unknown);
      }
    } catch (error) {
      return refuse(words.notKept(errorMessage(error)));
    }
  };
}
