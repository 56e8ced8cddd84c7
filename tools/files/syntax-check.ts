import { posix } from 'node:path';
import type { Environment } from '../environments/environment.ts';

const maxCheckedChars = 500_000;
const timeoutMs = 10_000;

/** JSON files whose readers allow comments. */
const commentedJson = /\/(?:[tj]sconfig[^/]*|\.vscode\/[^/]+|devcontainer)\.json$/;

type Checker = (
  text: string,
  path: string,
  environment: Environment,
  signal: AbortSignal,
) => Promise<readonly string[]>;

const checkModule: Checker = async (text, path) => {
  const { parseModule } = await import('../syntax-tree.ts');
  return (await parseModule(posix.basename(path), text)).errors;
};

const checkJson: Checker = async (text, path) => {
  if (commentedJson.test(path)) return [];
  try {
    JSON.parse(text);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
};

const checkYaml: Checker = async (text) => {
  const { parseDocument } = await import('yaml');
  return parseDocument(text, { logLevel: 'silent' }).errors.map(
    ({ message }) => message.split('\n')[0] ?? message,
  );
};

/** By a program of the environment, where it has it. */
const checkByProgram =
  (...argv: readonly string[]): Checker =>
  async (text, _path, environment, signal) => {
    const { exitCode, stderr } = await environment.run(argv, {
      stdin: text,
      timeoutMs,
      signal,
      maxBytes: 20_000,
    });
    const absent = exitCode === 126 || exitCode === 127;
    return exitCode === 0 || absent ? [] : stderr.trim().split('\n').slice(-3);
  };

const python =
  'import ast, sys\ntry: ast.parse(sys.stdin.read())\nexcept SyntaxError as e: sys.exit(f"line {e.lineno}: {e.msg}")';

const checkers: Readonly<Record<string, Checker>> = {
  '.js': checkModule,
  '.mjs': checkModule,
  '.cjs': checkModule,
  '.jsx': checkModule,
  '.ts': checkModule,
  '.mts': checkModule,
  '.cts': checkModule,
  '.tsx': checkModule,
  '.json': checkJson,
  '.yaml': checkYaml,
  '.yml': checkYaml,
  '.py': checkByProgram('python3', '-c', python),
  '.sh': checkByProgram('bash', '-n'),
  '.bash': checkByProgram('bash', '-n'),
};

/**
 * The syntax problems that an edit brought into a file, at most five: those that the file had before are not
 * reported. A language without a checker has none.
 */
export async function newSyntaxProblems(
  path: string,
  before: string | null,
  after: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const checker = checkers[posix.extname(path).toLowerCase()];
  if (!checker || after.length > maxCheckedChars) return [];
  const problems = await problemsOf(checker, after, path, environment, signal);
  if (problems.length === 0) return [];
  const old = before === null ? [] : await problemsOf(checker, before, path, environment, signal);
  const known = new Set(old.map(withoutPlace));
  return problems.filter((problem) => !known.has(withoutPlace(problem))).slice(0, 5);
}

async function problemsOf(checker: Checker, ...args: Parameters<Checker>): Promise<readonly string[]> {
  try {
    return await checker(...args);
  } catch {
    return []; // The check could not run (no such program, no answer in time): it has nothing to report.
  }
}

/** An edit above moves a problem without being its cause. */
const withoutPlace = (problem: string): string => problem.replaceAll(/\d+/g, '#');
