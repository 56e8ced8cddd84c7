import { describe, expect, it } from 'vitest';
import { detectDangerousCommand } from '../../../src/approvals/detect.ts';
import { RULES } from '../../../src/approvals/rules/index.ts';
import type { Verdict } from '../../../src/approvals/verdict.ts';

const context = { cwd: '/home/dev/app', home: '/home/dev' };
const order: readonly Verdict[] = ['safe', 'dangerous', 'forbidden'];
const judge = (command: string) => detectDangerousCommand(command, context);

for (const [index, rule] of RULES.entries()) {
  describe(`rule ${index + 1}, ${rule.key}: ${rule.description}`, () => {
    it.each([...rule.examples.must])('stops %s', (command) => {
      const judgement = judge(command);
      expect(judgement.findings.map((finding) => finding.category)).toContain(rule.key);
      expect(order.indexOf(judgement.verdict)).toBeGreaterThanOrEqual(order.indexOf(rule.verdict));
    });

    it.each([...rule.examples.mustNot])('lets %s be', (command) => {
      const hits = judge(command).findings.filter((finding) => finding.category === rule.key);
      expect(hits.map((finding) => finding.description)).not.toContain(rule.description);
    });
  });
}
