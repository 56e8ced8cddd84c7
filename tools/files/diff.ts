const contextLines = 3;
/** Above this many cells the changed middle is shown as one block: exactness is not worth the time. */
const maxCells = 250_000;

type Edit = { kind: ' ' | '-' | '+'; line: string };

/** A unified diff of two texts, empty when they are equal. */
export function unifiedDiff(before: string, after: string, fromName: string, toName: string): string {
  if (before === after) return '';
  const hunks = hunksOf(editsOf(linesOf(before), linesOf(after)));
  return [`--- ${fromName}`, `+++ ${toName}`, ...hunks].join('\n');
}

/** A last line without a line end differs from the same line with one. */
function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  else lines.push(`${lines.pop() ?? ''}\n\\ No newline at end of file`);
  return lines;
}

function editsOf(a: readonly string[], b: readonly string[]): Edit[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const keep = (lines: readonly string[]): Edit[] => lines.map((line) => ({ kind: ' ', line }));
  return [
    ...keep(a.slice(0, head)),
    ...middleEdits(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...keep(a.slice(a.length - tail)),
  ];
}

/** By the longest common subsequence. */
function middleEdits(a: readonly string[], b: readonly string[]): Edit[] {
  const removed = a.map((line): Edit => ({ kind: '-', line }));
  const added = b.map((line): Edit => ({ kind: '+', line }));
  if (a.length === 0 || b.length === 0 || a.length * b.length > maxCells) return [...removed, ...added];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const edits: Edit[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      edits.push({ kind: ' ', line: a[i] ?? '' });
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) edits.push(...removed.slice(i, ++i));
    else edits.push(...added.slice(j, ++j));
  }
  return [...edits, ...removed.slice(i), ...added.slice(j)];
}

function hunksOf(edits: readonly Edit[]): string[] {
  const changed = edits.flatMap((edit, index) => (edit.kind === ' ' ? [] : index));
  const ranges: { from: number; to: number }[] = [];
  for (const index of changed) {
    const last = ranges.at(-1);
    if (last && index - last.to <= contextLines * 2) last.to = index;
    else ranges.push({ from: index, to: index });
  }
  return ranges.flatMap(({ from, to }) => {
    const start = Math.max(0, from - contextLines);
    const hunk = edits.slice(start, to + contextLines + 1);
    const count = (kinds: string, part: readonly Edit[]) =>
      part.filter(({ kind }) => kinds.includes(kind)).length;
    const position = (kinds: string) => {
      const size = count(kinds, hunk);
      const first = count(kinds, edits.slice(0, start)) + (size > 0 ? 1 : 0);
      return `${first},${size}`;
    };
    return [`@@ -${position(' -')} +${position(' +')} @@`, ...hunk.map(({ kind, line }) => `${kind}${line}`)];
  });
}
