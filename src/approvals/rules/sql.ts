import { isVia, operands, optionValues, type SimpleCommand } from '../shell/command.ts';
import { own } from '../shell/own.ts';
import type { Rule } from './rule.ts';

/** Database clients, with the options whose value is a statement. A bare operand counts for `operand`. */
const CLIENTS: Readonly<Record<string, { options: readonly string[]; operand?: boolean }>> = {
  psql: { options: ['-c', '--command'] },
  pgcli: { options: ['-c'] },
  mysql: { options: ['-e', '--execute', '--init-command'] },
  mariadb: { options: ['-e', '--execute'] },
  mycli: { options: ['-e'] },
  sqlite3: { options: ['-cmd'], operand: true },
  sqlite: { options: [], operand: true },
  duckdb: { options: ['-c', '-s'], operand: true },
  litecli: { options: ['-e'] },
  'clickhouse-client': { options: ['-q', '--query'] },
  clickhouse: { options: ['-q', '--query'] },
  cockroach: { options: ['-e', '--execute'] },
  sqlcmd: { options: ['-Q', '-q'] },
  sqlplus: { options: [], operand: true },
  cqlsh: { options: ['-e', '--execute'] },
  bq: { options: [], operand: true },
  snowsql: { options: ['-q'] },
  trino: { options: ['--execute'] },
  presto: { options: ['--execute'] },
  spark: { options: ['-e'] },
  'spark-sql': { options: ['-e'] },
  hive: { options: ['-e'] },
  beeline: { options: ['-e'] },
  usql: { options: ['-c'] },
  isql: { options: [] },
  tsql: { options: [] },
  wrangler: { options: ['--command'] },
  turso: { options: [], operand: true },
  influx: { options: ['-execute'] },
  supabase: { options: [], operand: true },
};
const DOCUMENT_CLIENTS = ['mongo', 'mongosh'];
const KEY_CLIENTS = ['redis-cli', 'valkey-cli', 'keydb-cli'];

/** Everything that the command hands to the client: options, operands, standard input. */
function statements(command: SimpleCommand, options: readonly string[], operand: boolean): string {
  const given = optionValues(command, ...options).map((word) => word.text);
  // A cluster such as `-tAc` ends in the option that takes the next word.
  for (const [index, { text }] of command.args.entries()) {
    const next = command.args[index + 1];
    if (/^-[a-zA-Z]{2,}$/.test(text) && options.includes(`-${text.at(-1)}`) && next !== undefined)
      given.push(next.text);
  }
  if (operand) given.push(...operands(command).map((word) => word.text));
  if (command.stdin.text !== null) given.push(command.stdin.text);
  return given.join(';\n');
}

/** Text without comments and string literals, so that a word in a value never counts. */
function bare(sql: string): string {
  return sql.slice(0, 200_000).replace(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g, ' ? ');
}

const DESTROYS =
  /^(?:drop\s+(?!constraint\b)\w+|truncate\b|alter\s+table\b[\s\S]*\bdrop\s+(?!constraint\b|default\b|not\b|index\b)|flushall|flushdb|reset\s+(?:master|slave)|purge\s+binary\s+logs|detach\s+(?:table|database)\b[\s\S]*permanently|vacuum\s+into\b(?!))/i;

export function destroysData(sql: string): boolean {
  return bare(sql)
    .split(';')
    .some((part) => {
      const statement = part
        .trim()
        .replace(/^(?:begin|start\s+transaction|explain\s+analyze|set\s+\w+\s*=\s*\S+)\s+/i, '');
      if (DESTROYS.test(statement)) return true;
      const change = /^(?:with\b[\s\S]{0,2000}?\b)?(delete\s+from|update)\s+\S/i.exec(statement);
      return (
        change !== null &&
        !/\bwhere\b(?!\s*(?:1\s*=\s*1|true)\s*$)/i.test(statement) &&
        (change[1]?.toLowerCase() !== 'update' || /\bset\b/i.test(statement))
      );
    });
}

export const SQL_RULES: readonly Rule[] = [
  {
    key: 'sql-destructive',
    verdict: 'dangerous',
    description: 'drops, empties or changes whole tables or databases',
    programs: Object.keys(CLIENTS),
    match: (command) => {
      const client = own(CLIENTS, command.program);
      return (
        client !== undefined && destroysData(statements(command, client.options, client.operand ?? false))
      );
    },
    examples: {
      must: [
        "psql -c 'DROP TABLE orders'",
        "sqlite3 a.db 'delete from t'",
        'echo "TRUNCATE t;" | mysql app',
        'psql -tAc "delete from t"',
        "docker exec db psql -c 'drop database x'",
        'psql <<< "UPDATE u SET a=1"',
      ],
      mustNot: [
        "psql -c 'SELECT 1'",
        'psql -c "DELETE FROM t WHERE id=1"',
        'echo "DROP TABLE x"',
        'git commit -m "drop table users"',
        'psql -c "SELECT \'drop table x\'"',
      ],
    },
  },
  {
    key: 'sql-destructive',
    verdict: 'dangerous',
    description: 'drops or empties collections or databases',
    programs: DOCUMENT_CLIENTS,
    match: (command) =>
      /\.dropDatabase\s*\(|\.drop\s*\(\s*\)|\.(?:deleteMany|remove)\s*\(\s*(?:\{\s*\})?\s*\)|\bdropUser\s*\(|\.dropIndexes\s*\(/.test(
        statements(command, ['--eval'], true),
      ),
    examples: {
      must: ["mongosh app --eval 'db.dropDatabase()'", "mongosh --eval 'db.users.deleteMany({})'"],
      mustNot: ["mongosh --eval 'db.users.find()'", "mongosh --eval 'db.users.deleteMany({a:1})'"],
    },
  },
  {
    key: 'sql-destructive',
    verdict: 'dangerous',
    description: 'empties a key-value store',
    programs: KEY_CLIENTS,
    match: (command) => {
      const [first = '', second = ''] = operands(command, [
        '-h',
        '-p',
        '-a',
        '-n',
        '-u',
        '--user',
        '--pass',
      ]).map((word) => word.text);
      const lines = [`${first} ${second}`, ...(command.stdin.text?.split('\n') ?? [])];
      if (isVia(command, 'xargs') && /^(?:del|unlink)$/i.test(first)) return true;
      return lines.some((line) =>
        /^\s*(?:flushall|flushdb|script\s+flush|function\s+flush|shutdown|debug\s+(?:segfault|reload))\b/i.test(
          line,
        ),
      );
    },
    examples: {
      must: ['redis-cli FLUSHALL', 'redis-cli -n 1 flushdb', 'redis-cli --scan | xargs redis-cli DEL'],
      mustNot: ['redis-cli get flushall-count', 'redis-cli INFO', 'redis-cli DEL key'],
    },
  },
  {
    key: 'sql-destructive',
    verdict: 'dangerous',
    description: 'drops a database or a database user',
    programs: ['dropdb', 'dropuser', 'mysqladmin', 'rails', 'rake', 'prisma'],
    match: (command) => {
      const texts = operands(command).map((word) => word.text);
      if (command.program === 'mysqladmin') return texts.includes('drop');
      if (command.program === 'rails' || command.program === 'rake')
        return texts.some((text) => /^db:(?:drop|reset|purge|migrate:reset|schema:load)/.test(text));
      if (command.program === 'prisma') return texts[0] === 'migrate' && texts[1] === 'reset';
      return !command.args.some((word) => /^(?:--help|--version)$/.test(word.text));
    },
    examples: {
      must: ['dropdb app', 'dropuser bob', 'rails db:drop'],
      mustNot: ['createdb app', 'rails db:migrate'],
    },
  },
];
