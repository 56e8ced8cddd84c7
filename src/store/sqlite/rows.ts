import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { ChatAddress, OlderMessage } from '../../../platforms/platform.ts';

export type Row = Record<string, SQLOutputValue>;

/** Column readers: what the schema promises, checked where it is read. */
export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`column ${column} is not text`);
  return value;
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

export function integer(row: Row, column: string): number {
  const value = row[column];
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  throw new TypeError(`column ${column} is not an integer`);
}

export function integerOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : integer(row, column);
}

/** JSON columns hold what this program wrote itself, so their shape is the writer's. */
export function json<T>(row: Row, column: string): T {
  return JSON.parse(text(row, column));
}

export function toOlderMessage(row: Row): OlderMessage {
  return { chat: json<ChatAddress>(row, 'chat'), messageId: text(row, 'message_id') };
}

export interface Statements {
  run(sql: string, ...values: SQLInputValue[]): { changes: number; id: number };
  get(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: SQLInputValue[]): Row[];
}

/** Statements prepared once each; the SQL text is the cache key, so it must be constant. */
export function createStatements(db: DatabaseSync): Statements {
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const statement = (sql: string) => {
    let found = prepared.get(sql);
    if (!found) {
      found = db.prepare(sql);
      prepared.set(sql, found);
    }
    return found;
  };
  return {
    run(sql, ...values) {
      const { changes, lastInsertRowid } = statement(sql).run(...values);
      return { changes: Number(changes), id: Number(lastInsertRowid) };
    },
    get: (sql, ...values) => statement(sql).get(...values),
    all: (sql, ...values) => statement(sql).all(...values),
  };
}
