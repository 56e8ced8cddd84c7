import { noPace } from '../pace.ts';
import type { PlatformCapabilities } from '../platform.ts';
import { textUnits } from './markdown.ts';
import type { DiscordSettings } from './options.ts';

const mib = 1_048_576;

export const limits: PlatformCapabilities['limits'] = {
  textUnits,
  captionUnits: textUnits,
  buttonIdBytes: 64,
  fileBytesIn: 32 * mib,
  // discord.com/developers/docs/reference#uploading-files: 10 MiB where the server has no boosts.
  fileBytesOut: 10 * mib,
};

/** Discord says its buckets in headers only; five messages in five seconds is what it has held for years. */
const publicPace: PlatformCapabilities['pace'] = {
  perChatPerSecond: 1,
  perChatBurst: 5,
  groupPerMinute: 60,
  perBotPerSecond: 45,
  minEditIntervalMs: 1200,
};

export function capabilitiesFor({ reactions, pace }: DiscordSettings): PlatformCapabilities {
  return {
    attended: true,
    buttons: true,
    edits: true,
    threads: true,
    reactions,
    files: true,
    stream: 'edit',
    draftKinds: [],
    idempotentSend: true,
    // The heartbeat that Discord asks for comes every 41 s or so.
    aliveEveryMs: 60_000,
    replaysMissed: false,
    limits,
    pace: pace === 'on' ? publicPace : noPace,
  };
}
