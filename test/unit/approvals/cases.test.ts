import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { detectDangerousCommand } from '../../../src/approvals/detect.ts';
import { RULES } from '../../../src/approvals/rules/index.ts';

const row = z.object({
  command: z.string(),
  verdict: z.enum(['safe', 'dangerous', 'forbidden', 'unclear']),
  category: z.string().nullable(),
  also: z.array(z.string()).default([]),
  sure: z.boolean().default(true),
  cwd: z.string().optional(),
  home: z.string().optional(),
});
type Row = z.infer<typeof row>;

/** The labelled cases live outside the repository; without them the rules' own examples stand in. */
function read(name: string): Row[] {
  const file = new URL(`../../../../shared/cases/${name}`, import.meta.url);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => row.parse(JSON.parse(line)));
}

const own: Row[] = RULES.flatMap((rule) =>
  rule.examples.must.map((command) => ({
    command,
    verdict: rule.verdict,
    category: rule.key,
    also: [],
    sure: true,
  })),
);
const judge = ({ command, cwd, home }: Row) =>
  detectDangerousCommand(command, { ...(cwd !== undefined && { cwd }), ...(home !== undefined && { home }) });

describe('the labelled cases', () => {
  it('get their verdict and category, every one', () => {
    const wrong = read('commands.jsonl').filter((one) => {
      const { verdict, category } = judge(one);
      return verdict !== one.verdict || (category !== one.category && !one.also.includes(category ?? ''));
    });
    expect(wrong.map((one) => one.command)).toEqual([]);
  });

  it('of real traffic ask in vain at 1 % at most, and pass at most 3 % of the dangerous', () => {
    const traffic = read('traffic.jsonl');
    const safe = traffic.filter((one) => one.verdict === 'safe');
    const bad = traffic.filter((one) => one.verdict === 'dangerous' && one.sure);
    expect(safe.filter((one) => judge(one).verdict !== 'safe').length).toBeLessThanOrEqual(
      safe.length * 0.01,
    );
    expect(bad.filter((one) => judge(one).verdict === 'safe').length).toBeLessThanOrEqual(bad.length * 0.03);
  });

  it('take 100 µs each in the median', () => {
    const rows = [...read('commands.jsonl'), ...own];
    for (const one of rows) judge(one);
    const times = rows
      .map((one) => {
        const start = performance.now();
        judge(one);
        return performance.now() - start;
      })
      .sort((left, right) => left - right);
    expect(times[times.length >> 1]).toBeLessThan(0.1);
  });
});
