import { z } from 'zod';
import { block, choiceWithOff, count, entries, flag, list, seconds, text } from './fields.ts';

const unattended = z.enum(['deny', 'approve']).default('deny');

/** Globs, or regular expressions between slashes. */
const commandPatterns = entries
  .refine((patterns) => patterns.every(isUsable), {
    error: 'a glob, or a valid regular expression between slashes',
  })
  .default([]);

function isUsable(pattern: string): boolean {
  const [, source, flags] = /^\/(.+)\/([imsu]*)$/s.exec(pattern) ?? [];
  if (source === undefined) return true;
  try {
    return new RegExp(source, flags).source !== '';
  } catch {
    // Said with the key and the line, like any other fault of the file.
    return false;
  }
}

export const approvals = block({
  mode: choiceWithOff(['manual', 'smart', 'off']).default('manual'),
  /** Seconds that a card in a chat waits; the terminal's prompt has its own. */
  timeout: seconds.default(300),
  cli_timeout: seconds.default(60),
  cron_mode: unattended,
  single_query_mode: unattended,
  unattended_mode: unattended,
  ask: commandPatterns,
  deny: commandPatterns,
  allow: commandPatterns,
  routine: z.enum(['ask', 'allow']).default('ask'),
  in_containers: z.enum(['skip', 'ask']).default('skip'),
  allow_permanent: flag.default(true),
  smart_policy: text.default(''),
  denial_breaker_threshold: count.default(3),
  destructive_slash_confirm: flag.default(true),
}).prefault({});

export const security = block({
  redact_secrets: flag.default(true),
  allow_private_urls: flag.default(false),
  website_blocklist: block({
    enabled: flag.default(false),
    domains: list.default([]),
    shared_files: list.default([]),
  }).prefault({}),
}).prefault({});
