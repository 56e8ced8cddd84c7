import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { detectDangerousCommand } from '../approvals/detect.ts';
import { addToList, removeFromList } from '../config/edit.ts';
import { GatewayError } from '../errors.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { loadHome } from './load.ts';
import { print, printJson, printNote, printTable } from './print.ts';

export async function listAllowed(): Promise<void> {
  const { config } = await loadHome();
  if (config.command_allowlist.length === 0) printNote('Nothing is allowed for good.');
  for (const entry of config.command_allowlist) print(entry);
}

export async function allow(pattern: string): Promise<void> {
  const { home } = await loadHome();
  if (detectDangerousCommand(pattern, { cwd: process.cwd(), home: homedir() }).verdict === 'forbidden') {
    throw new GatewayError('usage', `"${pattern}" is forbidden: no entry can allow it.`, {
      mend: 'Run it yourself if you mean it; docs/approvals.md lists what is forbidden.',
    });
  }
  if (/^[*?\s]+$/.test(pattern)) {
    throw new GatewayError('usage', `"${pattern}" would allow every command.`, {
      mend: 'Name what may run, such as "npm run *". To be asked about nothing, set approvals.mode to off.',
    });
  }
  await addToList({ home, env: process.env }, 'command_allowlist', [pattern]);
  print(`Allowed from now on: ${pattern}`);
}

export async function forget(pattern: string): Promise<void> {
  const { home } = await loadHome();
  const found = await removeFromList({ home, env: process.env }, 'command_allowlist', pattern);
  if (!found) {
    throw new GatewayError('usage', `There is no entry "${pattern}".`, {
      mend: 'hermes-gateway approvals list shows them.',
    });
  }
  print(`Forgotten: ${pattern}`);
}

/** Prints what was asked, decided and run; with `--verify` checks the hash chain (exit 1 when it is broken). */
export async function audit({ verify, json }: { verify?: boolean; json?: boolean }): Promise<void> {
  const { home } = await loadHome();
  const path = join(home, 'state.db');
  if (!existsSync(path)) return printNote('Nothing has been recorded yet.');
  const store = openSqliteStore(path);
  try {
    if (verify) {
      const { rows, brokenAt } = await store.read.audit.verify();
      if (json) printJson({ rows, broken_at: brokenAt });
      else
        print(
          brokenAt === null
            ? `${rows} rows, the chain is whole.`
            : `The chain is broken at row ${brokenAt} of ${rows}.`,
        );
      if (brokenAt !== null) process.exitCode = 1;
      return;
    }
    const rows = await store.read.audit.list({ limit: 1_000_000 });
    if (json) return printJson(rows);
    if (rows.length === 0) printNote('Nothing has been recorded yet.');
    printTable(
      rows.map((row) => [String(row.seq), new Date(row.at).toISOString(), row.event, row.actor, row.detail]),
    );
  } finally {
    await store.close();
  }
}
