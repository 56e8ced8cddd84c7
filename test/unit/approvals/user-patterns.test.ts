import { describe, expect, it } from 'vitest';
import { detectDangerousCommand } from '../../../src/approvals/detect.ts';
import { compileUserPatterns, type UserPatternLists } from '../../../src/approvals/user-patterns.ts';

const judge = (command: string, lists: UserPatternLists) =>
  detectDangerousCommand(command, {}, compileUserPatterns(lists));

describe("the user's own patterns", () => {
  it('ask about what is safe otherwise', () => {
    expect(judge('make deploy', { ask: ['make deploy*'] })).toMatchObject({
      verdict: 'dangerous',
      category: 'user-rule',
    });
  });

  it('forbid, wherever in the line the command hides', () => {
    expect(judge("sudo sh -c 'kubectl apply -f x'", { deny: ['kubectl *'] }).verdict).toBe('forbidden');
  });

  it('allow only when every command found is covered', () => {
    const lists = { allow: ['rm -rf build*'] };
    expect(judge('rm -rf build', lists).verdict).toBe('safe');
    expect(judge('rm -rf build && rm -rf src', lists).verdict).toBe('dangerous');
  });

  it('never allow what is forbidden', () => {
    expect(judge('rm -rf /', { allow: ['*'] }).verdict).toBe('forbidden');
  });

  it('let deny beat ask, and ask beat allow', () => {
    expect(judge('make x', { allow: ['make *'], ask: ['make *'], deny: ['make *'] }).verdict).toBe(
      'forbidden',
    );
    expect(judge('make x', { allow: ['make *'], ask: ['make *'] }).verdict).toBe('dangerous');
  });

  it('may be regular expressions between slashes', () => {
    expect(judge('psql -h PROD-db -c "select 1"', { ask: ['/\\bprod\\b/i'] }).verdict).toBe('dangerous');
    expect(judge('psql -h dev -c "select 1"', { ask: ['/\\bprod\\b/i'] }).verdict).toBe('safe');
  });

  it('that do not compile are refused by name', () => {
    expect(() => compileUserPatterns({ ask: ['/(/'] })).toThrow(/Invalid regular expression/);
  });
});
