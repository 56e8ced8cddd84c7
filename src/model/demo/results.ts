import { z } from 'zod';
import type { Step } from './intents.ts';
import type { DemoTexts } from './texts.ts';

const resultSchema = z.looseObject({
  output: z.string().optional(),
  exit_code: z.number().optional(),
  error: z.string().nullish(),
  status: z.string().optional(),
  content: z.string().optional(),
  message: z.string().optional(),
  bytes_written: z.number().optional(),
  matches: z.unknown().optional(),
  files: z.array(z.string()).optional(),
  total_count: z.number().optional(),
});
type Result = z.infer<typeof resultSchema>;

const longestQuoteUnits = 3000;

export interface Outcome {
  text: string;
  /** Whether the steps that follow make sense. */
  succeeded: boolean;
}

/** Tells a tool's result plainly, a refusal included. */
export function tell(step: Step, content: string, texts: DemoTexts): Outcome {
  const what = `\`${step.args['command'] ?? step.args['path'] ?? step.args['pattern'] ?? step.tool}\``;
  const result = parse(content);
  if (result === null) return { text: texts.output(what, fenced(content)), succeeded: true };
  const error = result.error ?? '';
  if (result.status === 'blocked' || result.status === 'pending_approval' || error.startsWith('BLOCKED')) {
    return { text: texts.notRun(what, reasonOf(error || (result.message ?? ''))), succeeded: false };
  }
  if (error !== '') return { text: texts.failed(what, error), succeeded: false };
  return tellSuccess(step, what, result, texts);
}

function tellSuccess(step: Step, what: string, result: Result, texts: DemoTexts): Outcome {
  const code = result.exit_code ?? 0;
  const output = result.output?.trimEnd() ?? '';
  switch (step.tool) {
    case 'terminal':
      if (code !== 0)
        return { text: texts.exited(what, code, output === '' ? '' : fenced(output)), succeeded: false };
      return {
        text: output === '' ? texts.noOutput(what) : texts.output(what, fenced(output)),
        succeeded: true,
      };
    case 'write_file':
      return { text: texts.wrote(what, result.bytes_written ?? 0), succeeded: true };
    case 'search_files': {
      const hits = result.files?.join('\n') ?? JSON.stringify(result.matches ?? [], null, 1);
      const text = result.total_count === 0 ? texts.nothingFound(what) : texts.found(what, fenced(hits));
      return { text, succeeded: true };
    }
    case 'read_file':
      return { text: texts.output(what, fenced(result.content ?? result.message ?? '')), succeeded: true };
  }
}

function parse(content: string): Result | null {
  try {
    return resultSchema.parse(JSON.parse(content));
  } catch {
    return null;
  }
}

/** The part of a refusal that is meant for people: what follows tells a model how to behave. */
function reasonOf(message: string): string {
  const [reason = ''] = message
    .replace(/^BLOCKED(?: \([^)]*\))?: ?/, '')
    .split(/ Do not retry| If it is really wanted/);
  return reason.charAt(0).toUpperCase() + reason.slice(1);
}

/** A code block that its own content can't end. */
function fenced(text: string): string {
  const shown = text.length > longestQuoteUnits ? `${text.slice(0, longestQuoteUnits)}\n…` : text;
  const longestRun = Math.max(0, ...Array.from(shown.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longestRun + 1));
  return `${fence}\n${shown}\n${fence}`;
}
