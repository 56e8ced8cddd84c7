import { z } from 'zod';
import { redactSecrets } from '../src/redact.ts';
import { registry } from './registry.ts';
import { toolError, toolResult } from './results.ts';
import type { SearchHit, ToolContext } from './tool.ts';

const args = z.object({
  query: z.string().default('').describe('Words to look for; empty lists the latest sessions'),
  role_filter: z
    .string()
    .optional()
    .describe('Only entries of these roles, comma separated: user, assistant, tool'),
  limit: z
    .int()
    .min(1)
    .default(3)
    .transform((limit) => Math.min(limit, 20))
    .describe('How many sessions, at most 20'),
});

async function sessionSearch(asked: z.infer<typeof args>, { agent }: ToolContext): Promise<string> {
  if (!agent) return toolError('session_search must be handled by the agent loop');
  const query = asked.query.trim();
  const roles =
    asked.role_filter
      ?.split(',')
      .map((role) => role.trim())
      .filter(Boolean) ?? [];
  const hits = await agent.searchSessions(query, {
    limit: asked.limit,
    ...(roles.length > 0 ? { roles } : {}),
  });
  return toolResult({ success: true, query, count: hits.length, results: hits.map(showHit) });
}

const showHit = ({ sessionId, title, role, at, snippet }: SearchHit) => ({
  session_id: sessionId,
  title,
  role,
  when: new Date(at).toISOString(),
  snippet: redactSecrets(snippet),
});

registry.register({
  name: 'session_search',
  toolset: 'session_search',
  emoji: '🕰️',
  schema: {
    description:
      'Searches earlier sessions with this user. Use it when they refer to something that was said or done before and is not in this conversation.',
    parameters: args,
  },
  handler: sessionSearch,
  agentLoop: true,
  idempotent: true,
  concurrency: 'parallel',
});
