import { describe, expect, it } from 'vitest';
import { detectDangerousCommand } from '../../../src/approvals/detect.ts';
import { allowlistCovers, formatAllowlistEntry, scopeCovers } from '../../../src/approvals/scope.ts';

const script = (line: string) => detectDangerousCommand(`python3 - <<'EOF'\n${line}\nEOF`);

describe('a script by here-document that was allowed for ever', () => {
  const first = script('import shutil; shutil.rmtree("build")');
  const other = script('import shutil; shutil.rmtree("src")');

  it('is dangerous, and so is another one', () => {
    expect([first.verdict, other.verdict]).toEqual(['dangerous', 'dangerous']);
  });

  it('allows itself at the most, and no other script', () => {
    const entries = first.scope?.grants.map(formatAllowlistEntry) ?? [];
    expect(allowlistCovers(entries, other)).toBe(false);
    if (first.scope) expect(scopeCovers(first.scope, other)).toBe(false);
  });
});
