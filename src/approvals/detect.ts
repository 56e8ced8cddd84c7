import { matchPatterns } from './patterns.ts';
import { RULED_PROGRAMS, rulesFor } from './rules/index.ts';
import type { Rule } from './rules/rule.ts';
import { scopeOf } from './scope.ts';
import { commandText, type SimpleCommand } from './shell/command.ts';
import { globMatches, hasGlob } from './shell/glob.ts';
import { type NormalisedText, normalise } from './shell/normalise.ts';
import { parseShell } from './shell/parse.ts';
import { walkShell } from './shell/walk.ts';
import { applyUserPatterns, type UserPatterns } from './user-patterns.ts';
import {
  CATEGORIES,
  type Category,
  type CommandContext,
  type Finding,
  type Judgement,
  type Span,
} from './verdict.ts';

/** Longer than any single argument that Linux can start (MAX_ARG_STRLEN): not parsed, only scanned, and asked about. */
export const MAX_COMMAND = 131_072;
/** The description of what the judge failed on. */
export const UNJUDGED = 'could not be judged because of a fault in the judge';
/** Findings beyond this many add nothing that a person reads. */
const MAX_FINDINGS = 200;
/** As many commands are told; the user's patterns saw all of them. */
const MAX_TOLD = 1_000;

/**
 * Judges a command line by what it would do. Pure and synchronous; time is linear in the text. Never throws: what
 * cannot be judged is dangerous.
 */
export function detectDangerousCommand(
  command: string,
  context: CommandContext = {},
  patterns?: UserPatterns,
): Judgement {
  if (command.length > MAX_COMMAND) return judgeLong(command);
  try {
    return judge(command, context, patterns);
  } catch {
    // A fault of the judge must not let anything pass.
    return unjudged(command);
  }
}

/** The judgement of a command that the judge failed on. */
export function unjudged(command: string): Judgement {
  return judgeByPatterns(command, UNJUDGED);
}

function judge(command: string, context: CommandContext, patterns: UserPatterns | undefined): Judgement {
  const clean = normalise(command);
  const collector = new Collector(clean);
  const outcome = walkShell(clean.text, context, collector);
  const isWhole = !outcome.broken && !outcome.exceeded;
  if (outcome.broken) collector.judgeBroken(clean.text);
  if (outcome.exceeded) {
    collector.whole('unparsable', 'is too long, too deep or too wide to be judged');
    const hit = matchPatterns(clean.text);
    if (hit !== null)
      collector.whole(hit.category, hit.description, hit.forbidden === true ? 'forbidden' : 'dangerous');
  }
  // Without this a decision or a rule that covers what is told would cover what is not.
  if (collector.isCut) collector.whole('unparsable', `does more than ${MAX_FINDINGS} dangerous things`);
  const user = patterns === undefined ? null : applyUserPatterns(patterns, command, collector.commands);
  if (user?.kind === 'deny')
    collector.whole('user-rule', `matches the deny pattern ${user.source}`, 'forbidden');
  if (user?.kind === 'ask') collector.whole('user-rule', `matches the ask pattern ${user.source}`);
  const findings =
    user?.kind === 'allow' && isWhole
      ? collector.findings.filter((finding) => finding.verdict === 'forbidden')
      : collector.findings;
  return conclude(command, findings, collector.commands.slice(0, MAX_TOLD));
}

class Collector {
  readonly findings: Finding[] = [];
  readonly commands: string[] = [];
  private readonly clean: NormalisedText;
  private readonly seen = new Set<string>();
  /** Something was found that `findings` has no room for. */
  isCut = false;

  constructor(clean: NormalisedText) {
    this.clean = clean;
  }

  private span(span: Span): Span {
    return { start: this.clean.original(span.start), end: this.clean.original(span.end) };
  }

  private get wholeSpan(): Span {
    return this.span({ start: 0, end: this.clean.text.length });
  }

  command(command: SimpleCommand): void {
    let text: string | null = null;
    const lazy = () => {
      text ??= commandText(command);
      return text;
    };
    if (command.program !== '') this.commands.push(lazy());
    this.judge(command, lazy);
    if (hasGlob(command.program) && command.program !== '[' && command.program !== '[[') {
      for (const program of RULED_PROGRAMS.filter((name) => globMatches(command.program, name)).slice(
        0,
        16,
      )) {
        this.judge({ ...command, program }, lazy);
      }
    }
    if (this.clean.hiddenAt.length > 0 && this.isHidden(command)) {
      this.add({
        verdict: 'dangerous',
        category: 'obfuscated',
        description: 'hides invisible characters in the name of a program',
        routine: false,
        span: this.span(command.span),
        command: lazy(),
        subject: null,
      });
    }
  }

  private isHidden(command: SimpleCommand): boolean {
    const [word] = command.words;
    return word !== undefined && this.clean.hiddenAt.some((at) => at >= word.start && at <= word.end);
  }

  private judge(command: SimpleCommand, text: () => string): void {
    for (const rule of rulesFor(command)) {
      if (rule.match(command)) this.add(this.finding(rule, command, text()));
    }
  }

  /** What inline code of an interpreter does is dangerous as code; the floor keeps its own name. */
  private finding(rule: Rule, command: SimpleCommand, text: string): Finding {
    const asCode = command.inCode && rule.verdict === 'dangerous' && rule.key !== 'remote-code';
    return {
      verdict: rule.verdict,
      category: asCode ? 'interpreter-code' : rule.key,
      description: rule.description,
      routine: !asCode && rule.verdict === 'dangerous' && (rule.routine?.(command) ?? false),
      span: this.span(command.span),
      command: text,
      subject: asCode || command.remote ? null : (rule.subject?.(command) ?? null),
    };
  }

  private add(finding: Finding): void {
    const key = `${finding.category}\n${finding.command}\n${finding.span.start}`;
    if (this.seen.has(key)) return;
    if (this.findings.length < MAX_FINDINGS || finding.verdict === 'forbidden') {
      this.seen.add(key);
      this.findings.push(finding);
    } else this.isCut = true;
  }

  forkBomb(span: Span): void {
    this.add({
      verdict: 'forbidden',
      category: 'fork-bomb',
      description: 'starts copies of itself without end',
      routine: false,
      span: this.span(span),
      command: '',
      subject: null,
    });
  }

  /** A finding about the text as a whole; there is always room for it. */
  whole(category: Category, description: string, verdict: Finding['verdict'] = 'dangerous'): void {
    this.findings.push({
      verdict,
      category,
      description,
      routine: false,
      span: this.wholeSpan,
      command: '',
      subject: null,
    });
  }

  /** Text that does not parse: the pattern list decides, then whether it hides an operator behind a quote. */
  judgeBroken(text: string): void {
    const hit = matchPatterns(text);
    if (hit !== null && this.findings.length === 0) {
      this.whole(hit.category, hit.description, hit.forbidden === true ? 'forbidden' : 'dangerous');
    }
    if (this.findings.length > 0) return;
    const trick = (parseShell(text).errors ?? []).some(
      ({ message, pos }) => message.startsWith('unterminated') && /[;&|<>`\n]|\$\(/.test(text.slice(pos + 1)),
    );
    if (trick) this.whole('unparsable', 'does not parse: a quote is open and an operator follows it');
  }
}

/** A text that is too long to parse: asked about, and the floor's patterns looked for at both ends. */
function judgeLong(command: string): Judgement {
  const ends = `${command.slice(0, MAX_COMMAND / 2)}\n${command.slice(-MAX_COMMAND / 2)}`;
  return judgeByPatterns(
    command,
    `is longer than ${MAX_COMMAND} characters, which no shell can be started with; write it to a file and run that`,
    ends,
  );
}

function judgeByPatterns(command: string, why: string, searched = command): Judgement {
  const collector = new Collector({ text: command, original: (offset) => offset, hiddenAt: [] });
  collector.whole('unparsable', why);
  const hit = matchPatterns(searched);
  if (hit?.forbidden === true) collector.whole(hit.category, hit.description, 'forbidden');
  return conclude(command, collector.findings, []);
}

const rank = (finding: Finding) =>
  (finding.verdict === 'forbidden' ? 0 : 100) + CATEGORIES.indexOf(finding.category);

function conclude(text: string, findings: readonly Finding[], commands: readonly string[]): Judgement {
  const sorted = [...findings].sort((left, right) => rank(left) - rank(right));
  const [worst] = sorted;
  if (worst === undefined) {
    return {
      text,
      verdict: 'safe',
      category: null,
      description: null,
      routine: false,
      commands,
      spans: [],
      findings: [],
      scope: null,
    };
  }
  return {
    text,
    verdict: worst.verdict,
    category: worst.category,
    description: worst.description,
    routine: sorted.every((finding) => finding.routine),
    commands,
    spans: mergeSpans(sorted.map((finding) => finding.span)),
    findings: sorted,
    scope: scopeOf(text, sorted),
  };
}

function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of [...spans].sort((left, right) => left.start - right.start || left.end - right.end)) {
    const last = merged.at(-1);
    if (last !== undefined && span.start <= last.end)
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
    else merged.push(span);
  }
  return merged;
}
