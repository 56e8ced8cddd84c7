import { describe, expect, it } from 'vitest';
import { type ApprovalPolicy, policyStep } from '../../../src/approvals/policy.ts';
import type { ApprovalSubject } from '../../../src/approvals/subject.ts';
import type { Judgement, Verdict } from '../../../src/approvals/verdict.ts';

const policy: ApprovalPolicy = {
  mode: 'manual',
  timeoutMs: 1_000,
  allowPermanent: true,
  routine: 'ask',
  inContainers: 'skip',
  smartPolicy: '',
  attended: true,
  unattended: 'deny',
  yolo: false,
};
const command: Extract<ApprovalSubject, { kind: 'command' }> = {
  kind: 'command',
  command: 'x',
  cwd: '/',
  home: '/',
  backend: 'local',
  isolated: false,
};
const judged = (verdict: Verdict, change: Partial<Judgement> = {}): Judgement => ({
  verdict,
  text: 'x',
  category: null,
  description: null,
  routine: false,
  commands: [],
  spans: [],
  findings: [],
  scope: null,
  ...change,
});
const step = (
  judgement: Judgement,
  change: Partial<ApprovalPolicy> = {},
  remembered = false,
  subject: ApprovalSubject = command,
) => policyStep(subject, judgement, { ...policy, ...change }, remembered).kind;

describe('the policy of approvals', () => {
  it('lets what is safe run and asks about what is dangerous', () => {
    expect(step(judged('safe'))).toBe('allow');
    expect(step(judged('dangerous'))).toBe('ask');
  });

  it.each<[string, Partial<ApprovalPolicy>, boolean, ApprovalSubject]>([
    ['mode off', { mode: 'off' }, false, command],
    ['yolo', { yolo: true }, false, command],
    ['an allowlist', {}, true, command],
    ['smart mode', { mode: 'smart' }, false, command],
    ['an isolated container', {}, false, { ...command, isolated: true }],
    ['an unattended run that approves', { attended: false, unattended: 'approve' }, false, command],
  ])('never runs what is forbidden, not even with %s', (_name, change, remembered, subject) => {
    expect(step(judged('forbidden'), change, remembered, subject)).toBe('refuse');
    expect(step(judged('dangerous', { text: 'x'.repeat(200_000) }), change, remembered, subject)).toBe(
      'refuse',
    );
  });

  it('does not ask in an isolated container, unless the config says so', () => {
    const isolated = { ...command, isolated: true };
    expect(step(judged('dangerous'), {}, false, isolated)).toBe('allow');
    expect(step(judged('dangerous'), { inContainers: 'ask' }, false, isolated)).toBe('ask');
  });

  it('refuses at once where nobody can be asked', () => {
    expect(step(judged('dangerous'), { attended: false })).toBe('refuse');
    expect(step(judged('dangerous'), { attended: false, unattended: 'approve' })).toBe('allow');
  });

  it('lets routine deletions run in smart mode, and in manual mode when told to', () => {
    const routine = judged('dangerous', { routine: true });
    expect(step(routine)).toBe('ask');
    expect(step(routine, { routine: 'allow' })).toBe('allow');
    expect(step(routine, { mode: 'smart' })).toBe('allow');
    expect(step(judged('dangerous'), { mode: 'smart' })).toBe('smart');
  });
});
