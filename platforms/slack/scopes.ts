/** The bot scopes that the adapter uses, each with what fails without it. The app manifest asks for all of them. */
export const botScopes: Readonly<Record<string, string>> = {
  'app_mentions:read': 'to hear mentions',
  'assistant:write': 'for suggested prompts in the assistant panel',
  'channels:history': 'to read public channels it is in',
  'channels:read': 'to know public channels by name',
  'chat:write': 'to write at all',
  commands: 'for slash commands',
  'files:read': 'to fetch files that people send',
  'files:write': 'to send files',
  'groups:history': 'to read private channels it is in',
  'groups:read': 'to know private channels by name',
  'im:history': 'to read direct messages',
  'im:read': 'to know direct messages',
  'im:write': 'to open direct messages',
  'mpim:history': 'to read group messages',
  'mpim:read': 'to know group messages',
  'reactions:read': 'to replace its own reactions',
  'reactions:write': 'to react',
  'users:read': 'to know people by name and language',
};

/** What of it a token lacks. `granted` undefined (Slack did not say) counts as nothing missing. */
export function missingScopes(granted: readonly string[] | undefined): { scope: string; need: string }[] {
  if (granted === undefined) return [];
  return Object.entries(botScopes)
    .filter(([scope]) => !granted.includes(scope))
    .map(([scope, need]) => ({ scope, need }));
}
