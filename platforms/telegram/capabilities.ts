import type { PlatformCapabilities } from '../platform.ts';
import type { TelegramSettings } from './options.ts';

/** core.telegram.org/bots/api: sendMessage, caption, getFile and core.telegram.org/bots/faq on limits. */
export const textLimit = 4096;
export const captionLimit = 1024;
export const callbackBytes = 64;
export const fileBytesIn = 20 * 1024 * 1024;
const fileBytesOut = 50 * 1024 * 1024;

const usualPace = {
  perChatPerSecond: 1,
  perChatBurst: 5,
  groupPerMinute: 20,
  perBotPerSecond: 30,
  minEditIntervalMs: 1_100,
};
const noPace = {
  perChatPerSecond: Number.POSITIVE_INFINITY,
  perChatBurst: Number.POSITIVE_INFINITY,
  groupPerMinute: Number.POSITIVE_INFINITY,
  perBotPerSecond: Number.POSITIVE_INFINITY,
  minEditIntervalMs: 0,
};

export function capabilitiesOf({ pace, reactions }: TelegramSettings): PlatformCapabilities {
  return {
    attended: true,
    buttons: true,
    edits: true,
    threads: true,
    reactions,
    files: true,
    stream: 'draft',
    draftKinds: ['dm'],
    idempotentSend: false,
    replaysMissed: true,
    limits: {
      textUnits: textLimit,
      captionUnits: captionLimit,
      buttonIdBytes: callbackBytes,
      fileBytesIn,
      fileBytesOut,
    },
    pace: pace === 'off' ? noPace : usualPace,
  };
}
