import { detectDangerousCommand } from './detect.ts';
import type { ApprovalSubject } from './subject.ts';
import type { UserPatterns } from './user-patterns.ts';
import type { CommandContext, Judgement } from './verdict.ts';

/** Judges any subject: commands by what they would do, everything else as dangerous by its kind. */
export function judgeSubject(
  subject: ApprovalSubject,
  host: Pick<CommandContext, 'gatewayHome' | 'gatewayPid' | 'roots'>,
  patterns: UserPatterns | undefined,
): Judgement {
  if (subject.kind === 'command') {
    const { command, cwd, home, backend } = subject;
    return detectDangerousCommand(command, { ...host, cwd, home, backend }, patterns);
  }
  const description = describe(subject);
  return {
    verdict: 'dangerous',
    text: description,
    category: null,
    description,
    routine: false,
    commands: [],
    spans: [],
    findings: [],
    scope: null,
  };
}

function describe(subject: Exclude<ApprovalSubject, { kind: 'command' }>): string {
  switch (subject.kind) {
    case 'write':
      return `changes ${subject.path}: ${subject.reason}`;
    case 'script':
      return `runs a ${subject.language} script`;
    case 'rule':
      return subject.reason;
  }
}
