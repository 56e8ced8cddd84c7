/** Which variables of the gateway's own environment a command may see. Anything that may be a secret stays out. */

const secretName =
  /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH(?!OR|_SOCK$)|BEARER|COOKIE|JWT|WEBHOOK|_PWD$|(?:^|_)(?:PASS|PAT|DSN)$/i;
/** The gateway's own: even those without a secret would tell an agent how to reach or change the gateway. */
const ownName =
  /^(?:HERMES_|TELEGRAM_|DISCORD_|SLACK_|GATEWAY_|OPENAI_|ANTHROPIC_|DATABASE_URL$|REDIS_URL$|TERMINAL_|VITEST)/;
/** A user and password inside a URL, whatever the variable is called. */
const credentialInUrl = /:\/\/[^/\s:@]*:[^/\s@]+@/;

/** A copy of `source` without secrets. `passthrough` names variables that are let through by configuration. */
export function scrubbedEnv(
  source: Readonly<Record<string, string | undefined>>,
  passthrough: readonly string[] = [],
): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined) continue;
    const hidden = secretName.test(name) || ownName.test(name) || credentialInUrl.test(value);
    if (!hidden || passthrough.includes(name)) clean[name] = value;
  }
  return clean;
}
