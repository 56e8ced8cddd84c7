import { z } from 'zod';
import { block, choiceWithOff, count, entries, flag, list, seconds, text } from './fields.ts';

const unattended = z.enum(['deny', 'approve']).default('deny');

export const approvals = block({
  mode: choiceWithOff(['manual', 'smart', 'off']).default('manual'),
  /** Seconds that a card in a chat waits; the terminal's prompt has its own. */
  timeout: seconds.default(300),
  cli_timeout: seconds.default(60),
  cron_mode: unattended,
  single_query_mode: unattended,
  unattended_mode: unattended,
  ask: entries.default([]),
  deny: entries.default([]),
  allow: entries.default([]),
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
