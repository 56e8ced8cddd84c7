import type { TelegramEmulator } from '../emulators/telegram/telegram-emulator.ts';
import type { UserHandle } from '../emulators/telegram/user.ts';
import type { StoredMessage } from '../emulators/telegram/world.ts';
import type { PlannedMessage } from './plan.ts';
import { asksFor } from './scripted-model.ts';

/** What a person saw happen to one message. */
export interface Seen {
  planned: PlannedMessage;
  /** The bot said that the decision is taken. */
  toldDecided: boolean;
  answered: boolean;
}

/** A restart, a few faults and an expiry fit well within it; what takes longer is stuck. */
const patienceMs = 60_000;
const pressAgainAfterMs = 3_000;
const labels = { approve: 'Once', deny: 'Deny' } as const;

/** Writes the planned messages, each when the one before was answered, and decides the cards. */
export async function playPerson(
  telegram: TelegramEmulator,
  user: UserHandle,
  planned: readonly PlannedMessage[],
): Promise<Seen[]> {
  const seen: Seen[] = [];
  for (const message of planned) {
    await new Promise((resolve) => setTimeout(resolve, message.thinkMs));
    const one = { planned: message, toldDecided: false, answered: false };
    seen.push(one);
    user.says(`${message.id} ${message.deed}`);
    const deciding = message.deed === 'remove' ? decide(telegram, user, message, one) : Promise.resolve();
    one.answered = await telegram.until
      .holds(
        `${message.id}: the answer`,
        () => answerTo(telegram, user, message.id) !== undefined,
        patienceMs,
      )
      .catch(() => false);
    await deciding;
    // The chat would go on, but order could no longer be told from loss.
    if (!one.answered) break;
  }
  return seen;
}

/** Presses what a lost confirmation left behind: copies of cards that were decided on another copy. */
export async function pressLeftovers(
  telegram: TelegramEmulator,
  user: UserHandle,
  seen: readonly Seen[],
): Promise<number> {
  const settled = seen.filter(({ answered }) => answered).map(({ planned }) => planned.id);
  const left = telegram
    .shown(user.chat)
    .filter(({ keyboard, text }) => keyboard.length > 0 && settled.some((id) => asksFor(text, id)));
  await Promise.allSettled(left.map((message) => user.presses(labels.approve, { message })));
  return left.length;
}

/** Presses until the bot says that it is taken, or the card has ended otherwise. */
async function decide(
  telegram: TelegramEmulator,
  user: UserHandle,
  { id, intent, pressesTwice }: PlannedMessage,
  seen: Seen,
): Promise<void> {
  if (intent === 'ignore') return;
  const isOver = () => answerTo(telegram, user, id) !== undefined;
  await telegram.until
    .holds(`${id}: the card`, () => liveCard(telegram, user, id) !== undefined || isOver(), patienceMs)
    .catch(() => false);
  for (;;) {
    const card = liveCard(telegram, user, id);
    if (card === undefined || isOver()) return;
    const presses = [user.presses(labels[intent], { message: card })];
    if (pressesTwice) presses.push(user.presses(labels[intent], { message: card }));
    const toasts = await Promise.allSettled(presses);
    if (toasts.some((toast) => toast.status === 'fulfilled' && !toast.value.alert)) {
      seen.toldDecided = true;
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, pressAgainAfterMs));
  }
}

/** The newest card for a message that can still be pressed. */
function liveCard(telegram: TelegramEmulator, { chat }: UserHandle, id: string): StoredMessage | undefined {
  return telegram.shown(chat).findLast(({ text, keyboard }) => keyboard.length > 0 && asksFor(text, id));
}

function answerTo(telegram: TelegramEmulator, { chat }: UserHandle, id: string): StoredMessage | undefined {
  return telegram.shown(chat).find(({ text }) => text.startsWith(`${id}: `));
}
