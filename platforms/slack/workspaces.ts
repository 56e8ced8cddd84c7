import type { webApi } from '@slack/bolt';
import { z } from 'zod';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { Log } from '../../src/log.ts';
import { rememberSecret } from '../../src/redact.ts';
import { createApi, type SlackApi } from './api.ts';
import { missingScopes } from './scopes.ts';

/** A workspace into which the app is installed. */
export interface Workspace {
  teamId: string;
  teamName: string;
  botUserId: string;
  botId: string;
  token: string;
  api: SlackApi;
}

export interface Workspaces {
  /** Asks Slack who each token is. Rejects when no token works; a single bad one among several is logged. */
  load(signal: AbortSignal): Promise<void>;
  all(): readonly Workspace[];
  /** The workspace of an address or event; the only one when there is one and no id is given. */
  of(teamId: string | undefined): Workspace;
  has(teamId: string): boolean;
}

const identity = z.object({
  team_id: z.string(),
  team: z.string().default(''),
  user_id: z.string(),
  bot_id: z.string().default(''),
  response_metadata: z.object({ scopes: z.array(z.string()).optional() }).optional(),
});

export interface WorkspacesDeps {
  tokens: readonly string[];
  makeClient(token: string): webApi.WebClient;
  log: Log;
}

export function createWorkspaces({ tokens, makeClient, log }: WorkspacesDeps): Workspaces {
  const byTeam = new Map<string, Workspace>();
  const warned = new Set<string>();
  for (const token of tokens) rememberSecret(token);

  async function identify(token: string, signal: AbortSignal): Promise<void> {
    const api = createApi(makeClient(token));
    const me = await api.call(identity, 'auth.test', {}, signal);
    const { team_id: teamId, team: teamName, user_id: botUserId, bot_id: botId } = me;
    byTeam.set(teamId, { teamId, teamName, botUserId, botId, token, api });
    for (const { scope, need } of missingScopes(me.response_metadata?.scopes)) {
      if (warned.has(`${teamId}:${scope}`)) continue;
      warned.add(`${teamId}:${scope}`);
      log.warn(
        { team: teamName, scope },
        `Slack: the app lacks the scope ${scope}, needed ${need}; add it and reinstall`,
      );
    }
  }

  return {
    async load(signal) {
      if (tokens.length === 0) {
        throw new GatewayError('token_invalid', 'No Slack bot token is set', {
          mend: 'Set SLACK_BOT_TOKEN.',
        });
      }
      const outcomes = await Promise.allSettled(tokens.map((token) => identify(token, signal)));
      const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      if (failures.length === tokens.length) throw failures[0];
      for (const failure of failures)
        log.error({ reason: errorMessage(failure) }, 'Slack: one bot token does not work');
    },
    all: () => [...byTeam.values()],
    has: (teamId) => byTeam.has(teamId),
    of(teamId) {
      const only = byTeam.size === 1 ? byTeam.values().next().value : undefined;
      const found = teamId === undefined ? only : byTeam.get(teamId);
      if (found !== undefined) return found;
      if (byTeam.size === 0)
        throw new GatewayError('platform_unreachable', 'Slack is not connected yet', { retryable: true });
      throw new GatewayError(
        'chat_gone',
        `The bot is not installed in the Slack workspace ${teamId ?? '(none given)'}`,
      );
    },
  };
}
