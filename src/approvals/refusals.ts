/** What the model reads when an action was not run. Written so that it neither retries nor goes around. */
const noWayAround =
  'Do not retry it, rephrase it or reach the same end another way; ask the user what they want instead.';

export const refusals = {
  forbidden: (description: string) =>
    `BLOCKED (hardline): ${description}. No approval exists for this; if it is really wanted, the user must run it by hand. ${noWayAround}`,
  tooLong: (_description: string) =>
    `BLOCKED: the command is too long to be judged. Write it to a script file with write_file and run that file.`,
  unattended: (description: string) =>
    `BLOCKED: ${description}. This needs a person's approval and nobody can be asked here. ${noWayAround}`,
  denied: (by: string, reason?: string) =>
    `BLOCKED: denied by ${by}.${reason ? ` Their reason: ${reason}.` : ''} ${noWayAround}`,
  smartDenied: (description: string) => `BLOCKED: judged too risky: ${description}. ${noWayAround}`,
  expired: `BLOCKED: nobody decided in time. Silence is not consent. ${noWayAround}`,
  superseded:
    'BLOCKED: the user wrote a new message instead of deciding. Nothing was run. Read the new message first.',
  changed:
    'BLOCKED: what would run now, or where, is not what the person was shown. Nothing was run. Check the working directory and send the call again to have it shown.',
  failed: 'BLOCKED: the approval request could not be made, so nothing was run. Tell the user.',
} as const;
