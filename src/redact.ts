/**
 * Shapes of well-known keys and tokens. Each is anchored to a prefix or a form that ordinary text lacks, and bounded
 * where it could be tried from many places of one text: pages and programs choose what is looked through here.
 */
const secretShapes: readonly RegExp[] = [
  /\b\d{8,10}:[A-Za-z0-9_-]{30,}/g, // Telegram bot token
  /\b(?:xox[abeprs]|xapp)-[A-Za-z0-9-]{10,}/g, // Slack
  /\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}/g, // Discord bot token
  /\bsk-[A-Za-z0-9_-]{16,}/g, // OpenAI and its kin
  /\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{40,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, // AWS access key id
  /\bAIza[A-Za-z0-9_-]{35}/g, // Google API key
  /\beyJ[A-Za-z0-9_-]{10,500}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g, // JWT
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----)[\s\S]){0,20000}-----END [A-Z ]{0,40}PRIVATE KEY-----/g,
  /\b(?:Bearer|Bot) [A-Za-z0-9._~+/=-]{20,}/g,
];

const knownSecrets = new Set<string>();

/** Registers a value that must never appear in logs, chats or tool results, whatever its shape. */
export function rememberSecret(value: string | undefined): void {
  if (value !== undefined && value.length >= 8) knownSecrets.add(value);
}

/** Replaces every known or recognisable secret by `[redacted]`. Linear in the length of `text`. */
export function redactSecrets(text: string): string {
  return redact(text, () => redacted);
}

/**
 * The same for an action that a person is asked to approve: of what only looks like a secret, long words without a
 * sign of the shell are hidden, and all else stays, so that no command can dress up as a key and go unseen.
 */
export function redactWords(text: string): string {
  return redact(text, (found) => found.replace(/[A-Za-z0-9_~+=.-]{16,}/g, redacted));
}

const redacted = '[redacted]';

function redact(text: string, hide: (found: string) => string): string {
  let clean = text;
  for (const secret of knownSecrets) {
    if (clean.includes(secret)) clean = clean.replaceAll(secret, redacted);
  }
  for (const shape of secretShapes) clean = clean.replace(shape, hide);
  return clean;
}
