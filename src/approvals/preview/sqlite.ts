import { isDynamic, operands, type SimpleCommand } from '../shell/command.ts';
import { counted, type Look, type Preview } from './exec.ts';

const CHANGES = /\b(?:delete\s+from|drop\s+table(?:\s+if\s+exists)?|update)\s+["'`[]?([A-Za-z_]\w{0,63})/gi;

/** Rows of the tables that statements on a SQLite file would empty, drop or change, counted read-only. */
export async function previewSqlite(command: SimpleCommand, look: Look): Promise<Preview | null> {
  const [file, ...statements] = operands(command);
  if (file === undefined || isDynamic(file) || file.text.startsWith('-')) return null;
  const sql = [...statements.map((word) => word.text), command.stdin.text ?? ''].join('\n');
  const tables = [
    ...new Set([...sql.matchAll(CHANGES)].flatMap((match) => (match[1] === undefined ? [] : [match[1]]))),
  ].slice(0, 5);
  if (tables.length === 0) return null;
  const counts: string[] = [];
  for (const table of tables) {
    const output = await look([
      command.program,
      '-readonly',
      '-batch',
      file.text,
      `SELECT count(*) FROM "${table}"`,
    ]);
    if (output === null || !/^\d+$/.test(output.trim())) return null;
    counts.push(`${table} has ${counted(Number(output.trim()), 'row')}`);
  }
  return { text: counts.join('; '), names: tables };
}
