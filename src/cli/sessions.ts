import { join } from 'node:path';
import { GatewayError } from '../errors.ts';
import type { SessionRow } from '../store/sessions.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { Store } from '../store/store.ts';
import { loadHome, makeHome } from './load.ts';
import { print, printJson, printNote, printTable } from './print.ts';

async function withStore(work: (store: Store) => Promise<void>): Promise<void> {
  const { home } = await loadHome();
  await makeHome(home);
  const store = openSqliteStore(join(home, 'state.db'));
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

export const list = (): Promise<void> =>
  withStore(async (store) => {
    const rows = await store.read.sessions.list(200);
    if (rows.length === 0) printNote('No sessions yet.');
    printTable(rows.map((row) => [new Date(row.updatedAt).toISOString(), row.turn, row.userName, row.key]));
  });

export const show = (key: string): Promise<void> =>
  withStore(async (store) => {
    const session = await find(store, key);
    for (const entry of await store.read.entries.list(session.sessionId)) {
      const text = entry.kind === 'tool' ? entry.content : entry.text;
      print(`[${new Date(entry.at).toISOString()}] ${entry.kind}: ${text}`);
      if (entry.kind === 'assistant')
        for (const call of entry.toolCalls) print(`  → ${call.name} ${call.arguments}`);
    }
  });

export const search = (text: string): Promise<void> =>
  withStore(async (store) => {
    const hits = await store.read.entries.search(text, { limit: 50 });
    if (hits.length === 0) printNote('Nothing is found.');
    printTable(
      hits.map((hit) => [new Date(hit.at).toISOString(), hit.kind, hit.snippet.replaceAll('\n', ' ')]),
    );
  });

export const exportJson = (key: string): Promise<void> =>
  withStore(async (store) => {
    const session = await find(store, key);
    printJson({ session, entries: await store.read.entries.list(session.sessionId) });
  });

async function find(store: Store, key: string): Promise<SessionRow> {
  const session = (await store.read.sessions.get(key)) ?? (await store.read.sessions.bySessionId(key));
  if (!session)
    throw new GatewayError('usage', `There is no session "${key}".`, {
      mend: 'hermes-gateway sessions list shows them.',
    });
  return session;
}
