/**
 * A foreground call waits for its command, so one that never ends by itself would only run into its timeout, and one
 * that puts itself into the background would be lost to the process table. Both belong to `background: true`.
 */
const advice = 'Call terminal again with background=true; the process tool then shows, feeds and ends it.';

interface Rule {
  shape: RegExp;
  reason: string;
}

const selfBackgrounding: readonly Rule[] = [
  { shape: /(?:^|[\s;&|(])(?:nohup|disown|setsid)(?=$|[\s;&|)])/, reason: 'puts itself into the background' },
  // A lone `&`: neither `&&`, nor a redirection such as `2>&1`, `&>` or `<&3`.
  { shape: /(?<![&<>|])&(?![&>])/, reason: 'puts a command into the background with &' },
];

const command = String.raw`(?:^|[;&|(]\s*|\b(?:env|exec|time|sudo)\s+)(?:\w+=\S*\s+)*`;
const servers: readonly Rule[] = [
  `(?:npm|pnpm|yarn|bun)\\s+(?:run\\s+)?(?:dev|start|serve|watch)\\b`,
  `(?:docker\\s+compose|docker-compose)\\s+(?:-\\S+\\s+(?:[^-\\s]\\S*\\s+)?)*?up\\b(?!.*\\s(?:-d|--detach)\\b)`,
  `next\\s+dev\\b`,
  `(?:npx\\s+)?vite(?:\\s+(?:dev|serve|preview|-)\\S*|\\s*$)`,
  `(?:npx\\s+)?nodemon\\b`,
  `uvicorn\\b`,
  `gunicorn\\b`,
  `python[\\d.]*\\s+-m\\s+http\\.server\\b`,
].map((shape) => ({
  shape: new RegExp(command + shape),
  reason: 'starts a server that does not end by itself',
}));

/** Why the command must not run in the foreground, with the way out; null when it may. */
export function foregroundProblem(text: string): string | null {
  const bare = withoutQuotes(text);
  const found = selfBackgrounding.find(({ shape }) => shape.test(bare)) ?? serverIn(bare);
  return found === undefined ? null : `This command ${found.reason}. ${advice}`;
}

function serverIn(bare: string): Rule | undefined {
  if (/\s--?(?:help|version)\b/.test(bare)) return undefined;
  return servers.find(({ shape }) => bare.split('\n').some((line) => shape.test(line)));
}

/** What stands in quotes or behind a backslash, in a comment or a here-document, is data. */
function withoutQuotes(text: string): string {
  return withoutHereDocuments(text)
    .replace(/\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*"/g, '_')
    .replace(/(^|\s)#[^\n]*/g, '$1');
}

const hereDocument = /<<-?\s*(["']?)([A-Za-z_]\w*)\1/;

function withoutHereDocuments(text: string): string {
  const kept: string[] = [];
  let end: string | null = null;
  for (const line of text.split('\n')) {
    if (end !== null) {
      if (line.trim() === end) end = null;
      continue;
    }
    kept.push(line);
    end = hereDocument.exec(line)?.[2] ?? null;
  }
  return kept.join('\n');
}
