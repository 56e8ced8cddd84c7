import { noPace } from '../pace.ts';
import type { PlatformCapabilities } from '../platform.ts';
import { mostFileBytes } from './files.ts';
import type { SlackSettings } from './options.ts';
import { textUnits } from './render.ts';

/** About one message a second in a channel; edits are Tier 3, some fifty a minute. docs.slack.dev/apis/web-api/rate-limits */
const publicPace: PlatformCapabilities['pace'] = {
  perChatPerSecond: 1,
  perChatBurst: 3,
  groupPerMinute: 60,
  perBotPerSecond: 20,
  minEditIntervalMs: 1200,
};

export function capabilitiesFor({ pace }: SlackSettings): PlatformCapabilities {
  return {
    attended: true,
    buttons: true,
    edits: true,
    threads: true,
    reactions: true,
    files: true,
    stream: 'draft',
    draftKinds: ['dm', 'group', 'channel', 'thread'],
    idempotentSend: false,
    // The slower of the two heartbeats, that of the HTTP mode.
    aliveEveryMs: 60_000,
    replaysMissed: false,
    limits: {
      textUnits,
      captionUnits: textUnits,
      buttonIdBytes: 64,
      fileBytesIn: mostFileBytes,
      fileBytesOut: mostFileBytes,
    },
    pace: pace === 'on' ? publicPace : noPace,
  };
}
