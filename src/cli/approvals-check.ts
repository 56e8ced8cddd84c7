import { createInterface } from 'node:readline';
import { z } from 'zod';
import { detectDangerousCommand } from '../approvals/detect.ts';
import { compileUserPatterns } from '../approvals/user-patterns.ts';
import type { CommandContext } from '../approvals/verdict.ts';
import { errorMessage, GatewayError } from '../errors.ts';
import { loadHome } from './load.ts';
import type { CheckFlags } from './main.ts';
import { print } from './print.ts';

const lineSchema = z.union([
  z.string(),
  z.object({ command: z.string(), cwd: z.string().optional(), home: z.string().optional() }),
]);

/**
 * `approvals check`: the verdict on one command, or with `--json` on each line of standard input (a JSON string or
 * `{command, cwd, home}`), one line of JSON each. Nothing is run.
 */
export async function checkCommands(command: string | undefined, { json, cwd }: CheckFlags): Promise<void> {
  const { home: gatewayHome, config } = await loadHome();
  const patterns = compileUserPatterns(config.approvals);
  const judge = (text: string, context: CommandContext) =>
    detectDangerousCommand(text, { gatewayHome, ...context }, patterns);
  const base: CommandContext = cwd === undefined ? {} : { cwd };
  if (command === undefined && !json) {
    throw new GatewayError('usage', 'Which command?', {
      mend: 'hermes-gateway approvals check "rm -rf build"',
    });
  }
  if (command !== undefined) {
    const verdict = judge(command, base);
    if (json) return print(toLine(verdict));
    print(
      verdict.verdict === 'safe'
        ? 'safe: runs at once'
        : `${verdict.verdict} (${verdict.category}): ${verdict.description}`,
    );
    for (const found of verdict.commands) print(`  ${found}`);
    return;
  }
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue;
    print(checkLine(line, base, judge));
  }
}

function checkLine(
  line: string,
  base: CommandContext,
  judge: (text: string, context: CommandContext) => Verdict,
): string {
  try {
    const input = lineSchema.parse(JSON.parse(line));
    if (typeof input === 'string') return toLine(judge(input, base));
    const { command, cwd, home } = input;
    return toLine(
      judge(command, { ...base, ...(cwd !== undefined && { cwd }), ...(home !== undefined && { home }) }),
    );
  } catch (error) {
    // One bad line must not cost the thousands after it.
    return JSON.stringify({
      error: `This line is neither a JSON string nor {"command": …}: ${errorMessage(error)}`,
    });
  }
}

type Verdict = ReturnType<typeof detectDangerousCommand>;

function toLine({ verdict, category, routine, description, commands }: Verdict): string {
  return JSON.stringify({ verdict, category, routine, description, commands });
}
