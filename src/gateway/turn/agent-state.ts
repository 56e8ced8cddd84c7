import { z } from 'zod';
import type { AgentState, Todo } from '../../../tools/tool.ts';
import type { SessionRow } from '../../store/sessions.ts';
import type { Store } from '../../store/store.ts';

const todosSchema = z.array(
  z.object({
    id: z.string(),
    content: z.string(),
    status: z.enum(['pending', 'in_progress', 'completed', 'cancelled']),
  }),
);

/** What agent-loop tools may use of the session: its task list, its user's memory, its user's past conversations. */
export function agentStateFor(store: Store, session: SessionRow, memoryFolder: string): AgentState {
  return {
    todos: {
      async read(): Promise<readonly Todo[]> {
        const row = await store.read.sessions.get(session.key);
        return todosSchema.parse(row?.settings.todos ?? []);
      },
      async write(todos) {
        await store.transaction(async (tables) => {
          const row = await tables.sessions.get(session.key);
          if (row) await tables.sessions.update(session.key, { settings: { ...row.settings, todos } });
        });
      },
    },
    async searchSessions(query, { roles, limit }) {
      const kinds = (['user', 'assistant', 'tool'] as const).filter((kind) => roles?.includes(kind) ?? true);
      const hits = await store.read.entries.search(query, { limit, kinds, userId: session.userId });
      return hits.map((hit) => ({
        sessionId: hit.sessionId,
        title: hit.title,
        role: hit.kind,
        at: hit.at,
        snippet: hit.snippet,
      }));
    },
    memoryFolder,
  };
}
