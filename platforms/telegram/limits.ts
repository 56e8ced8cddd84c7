/** Bot API: sendMessage, text. In UTF-16 units after entities; we keep the HTML itself below it. */
export const textLimit = 4096;
/** Bot API: sendDocument, caption. */
export const captionLimit = 1024;
/** Bot API: getFile. */
export const fileBytesIn = 20 * 1024 * 1024;
/** Bot API: sendDocument. */
export const fileBytesOut = 50 * 1024 * 1024;
/** How often a bot with a webhook asks whether its token still works. */
export const heartbeatMs = 60_000;
