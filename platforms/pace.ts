import type { PlatformCapabilities } from './platform.ts';

/** `off` where something else keeps the platform's limits: a server of one's own, a proxy that paces. */
export type PaceSwitch = 'on' | 'off';

export const noPace: PlatformCapabilities['pace'] = {
  perChatPerSecond: Number.POSITIVE_INFINITY,
  perChatBurst: Number.POSITIVE_INFINITY,
  groupPerMinute: Number.POSITIVE_INFINITY,
  perBotPerSecond: Number.POSITIVE_INFINITY,
  minEditIntervalMs: 100,
};
