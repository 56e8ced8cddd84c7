/** What must not become part of a system prompt, where it would speak with the gateway's own voice. */
const suspicious: readonly { shape: RegExp; what: string }[] = [
  {
    shape:
      /\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|system|your)\b.{0,40}\b(?:instruction|prompt|rule|guideline|direction)/i,
    what: 'an attempt to override instructions',
  },
  {
    shape: /\byou are (?:now|no longer)\b.{0,60}\b(?:an?|bound|restricted|limited)\b/i,
    what: 'an attempt to change who the agent is',
  },
  {
    shape: /\b(?:do not|don'?t|never) (?:tell|inform|mention|reveal).{0,30}\b(?:user|human|owner)\b/i,
    what: 'an order to deceive the user',
  },
  { shape: /\b(?:system prompt|developer mode|jailbreak)\b/i, what: 'talk of the system prompt' },
  { shape: /<\/?\s*(?:system|assistant|user|tool)\b[^>]*>|<\|[^|>]{1,40}\|>/i, what: 'a fake role tag' },
  {
    shape:
      /\b(?:curl|wget|nc|fetch)\b.{0,200}(?:\$\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)\w*|\.env\b|\.ssh\/|\.netrc)/i,
    what: 'a command that sends secrets away',
  },
  {
    shape: /\bcat\b.{0,80}(?:\.env\b|\.ssh\/id_|\.netrc|\.pgpass|credentials)/i,
    what: 'a command that reads secrets',
  },
  { shape: /authorized_keys/i, what: 'a change of who may log in' },
  {
    shape: /[\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\u{E0000}-\u{E007F}]/u,
    what: 'invisible characters',
  },
];

/** What makes an entry unfit for memory, in words; null when nothing does. */
export function findInjection(entry: string): string | null {
  return suspicious.find(({ shape }) => shape.test(entry))?.what ?? null;
}
