import { describe, expect, it } from 'vitest';
import { detectDangerousCommand } from '../../../src/approvals/detect.ts';
import { judgeApart } from '../../../src/approvals/judge-apart.ts';

const context = { cwd: '/work', home: '/home/ann' };
const names = Array.from({ length: 12_000 }, (_, index) => `$v${index}`).join(' ');

/** Texts that are cheap to write and dear to expand. Each once took seconds, or all memory. */
const dear: Record<string, string> = {
  'thousands of variables in one word': `echo "${names}"`,
  'one variable thousands of times': `echo "${'a$b '.repeat(30_000)}"`,
  'a long value thousands of times': `x=${'y'.repeat(30_000)}; echo ${'$x'.repeat(30_000)}`,
  'many unknown pieces thousands of times': `x="${'$a1 $b2 $c3 '.repeat(4_000)}"; echo "${'$x'.repeat(20_000)}"`,
  'a value that doubles': `a=aaaaaaaaaaaaaaaa;${'a=$a$a;'.repeat(40)}echo $a`,
  'a replacement that grows': `a=x;${'a=${a//x/xx};'.repeat(40)}echo $a`,
  'a replacement by a long text': `x=${'y'.repeat(60_000)}; echo \${x//y/$x}`,
  'a folder ever deeper': 'cd a;'.repeat(20_000),
  'a list of arguments': `rm ${'a '.repeat(60_000)}`,
};

describe('the cost of a judgement', () => {
  it.each(Object.entries(dear))('stays bounded: %s', (_name, command) => {
    detectDangerousCommand('ls', context);
    const from = performance.now();
    detectDangerousCommand(command, context);
    expect(performance.now() - from).toBeLessThan(2_000);
  });

  it('what expands beyond reason is asked about', () => {
    for (const name of ['a long value thousands of times', 'a value that doubles', 'a folder ever deeper']) {
      expect(detectDangerousCommand(dear[name] ?? '', context).verdict, name).toBe('dangerous');
    }
  });
});

describe('a long command', () => {
  it('is judged in a thread of its own, by the same rules', async () => {
    const command = `${'echo done; '.repeat(1_000)}rm -rf build; make deploy`;
    const lists = { deny: ['make deploy'] };
    const judgement = await judgeApart({ command, context, lists });
    expect(judgement).toMatchObject({ verdict: 'forbidden', category: 'user-rule' });
    expect(judgement.findings.map((finding) => finding.category)).toContain('recursive-delete');
    expect(await judgeApart({ command, context, lists: {} })).toEqual(
      detectDangerousCommand(command, context),
    );
  });

  it('leaves the event loop free', async () => {
    let longestMs = 0;
    let last = performance.now();
    const ticking = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last);
      last = performance.now();
    }, 1);
    const command = 'echo $(date) '.repeat(9_000);
    const from = performance.now();
    await judgeApart({ command, context, lists: {} });
    const tookMs = performance.now() - from;
    clearInterval(ticking);
    expect(longestMs).toBeLessThan(tookMs / 2);
  });

  it('counts as dangerous when its thread ends without a word', async () => {
    const unreadable = { command: 'ls', context, lists: { deny: ['/(/'] } };
    expect(await judgeApart(unreadable)).toMatchObject({ verdict: 'dangerous', category: 'unparsable' });
  });
});
