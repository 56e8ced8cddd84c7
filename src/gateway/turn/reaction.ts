import type { ChatAddress, Platform } from '../../../platforms/platform.ts';
import type { TurnOutcome } from '../../agent/turn.ts';
import type { Clock } from '../../clock.ts';
import type { Config } from '../../config/schema.ts';
import { errorMessage } from '../../errors.ts';
import type { Log } from '../../log.ts';

/** The bot's mark on the message it works on: seen, then done or failed. Best effort, beside everything else. */
export interface Reaction {
  seen(): void;
  ended(outcome: TurnOutcome | 'failed'): void;
}

export interface ReactionOptions {
  platform: Platform;
  chat: ChatAddress;
  /** Undefined when no message of a person is being answered. */
  messageId: string | undefined;
  config: Config;
  clock: Clock;
  log: Log;
}

const callTimeoutMs = 10_000;
/** A turn that ends sooner needs no sign that it began. */
const seenAfterMs = 400;
/** The answer goes first: the mark must not cost it time. */
const endedAfterMs = 250;
/** A parked turn goes on being worked on; an interrupted one is about another message now. */
const marks: { readonly [outcome in TurnOutcome | 'failed']: string | null | undefined } = {
  done: '✅',
  failed: '❌',
  parked: undefined,
  interrupted: null,
};

export function createReaction({ platform, chat, messageId, config, clock, log }: ReactionOptions): Reaction {
  const isOn = platform.capabilities.reactions && isWanted(config, platform.name);
  let last: Promise<void> = Promise.resolve();
  const show = (emoji: string | null | undefined) => {
    if (!isOn || messageId === undefined || emoji === undefined) return;
    // One after the other: the last one shown must be the last one meant.
    last = last
      .then(() => platform.react(chat, messageId, emoji, AbortSignal.timeout(callTimeoutMs)))
      .catch((error: unknown) => log.debug({ error: errorMessage(error) }, 'a reaction could not be shown'));
  };
  let cancelSeen: () => void = () => undefined;
  return {
    seen() {
      cancelSeen = clock.after(seenAfterMs, () => show('👀'));
    },
    ended(outcome) {
      const mark = marks[outcome];
      if (mark === undefined) return;
      cancelSeen();
      clock.after(endedAfterMs, () => show(mark));
    },
  };
}

function isWanted(config: Config, platform: string): boolean {
  return (
    (platform === 'telegram' || platform === 'discord' || platform === 'slack') && config[platform].reactions
  );
}
