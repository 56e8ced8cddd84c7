import { noPace } from '../pace.ts';
import type { PlatformCapabilities } from '../platform.ts';
import { captionLimit, fileBytesIn, fileBytesOut, heartbeatMs, textLimit } from './limits.ts';
import type { TelegramSettings } from './options.ts';

/** core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this; a chat may burst before its pace holds. */
const publicPace: PlatformCapabilities['pace'] = {
  perChatPerSecond: 1,
  perChatBurst: 5,
  groupPerMinute: 20,
  perBotPerSecond: 30,
  minEditIntervalMs: 1_100,
};

export function capabilitiesFor({
  pace,
  reactions,
  webhook,
  pollTimeoutSeconds,
  pollGraceMs,
}: TelegramSettings): PlatformCapabilities {
  return {
    attended: true,
    buttons: true,
    edits: true,
    threads: true,
    reactions,
    files: true,
    stream: 'draft',
    draftKinds: ['dm'],
    // The Bot API has no idempotency keys, and a bot cannot read a chat's history.
    idempotentSend: false,
    // A poll that finds nothing is a sign of life; with a webhook the adapter asks who it is once a minute.
    aliveEveryMs: webhook === null ? pollTimeoutSeconds * 1_000 + pollGraceMs : heartbeatMs,
    replaysMissed: true,
    limits: {
      textUnits: textLimit,
      captionUnits: captionLimit,
      buttonIdBytes: 64,
      fileBytesIn,
      fileBytesOut,
    },
    pace: pace === 'on' ? publicPace : noPace,
  };
}
