import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

describe('the list of errors', () => {
  it('is the same in the code and in the documentation', () => {
    const union = /export type ErrorCode =([\s\S]*?);/.exec(readFileSync('src/errors.ts', 'utf8'))?.[1] ?? '';
    const inCode = [...union.matchAll(/'(\w+)'/g)].map((match) => match[1]);
    const inDocs = [...readFileSync('docs/errors.md', 'utf8').matchAll(/^\| `(\w+)` \|/gm)].map(
      (match) => match[1],
    );
    expect(inCode.length).toBeGreaterThan(15);
    expect(inDocs).toEqual(inCode);
  });
});
