const fenceLine = /^ {0,3}(```+|~~~+)(.*)$/;

/**
 * Markdown in parts of at most `limit` UTF-16 units, cut between paragraphs, else lines, else words, never within a
 * surrogate pair. A code fence that a cut falls into is closed there and opened again in the next part.
 */
export function splitMarkdown(markdown: string, limit: number): string[] {
  const parts: string[] = [];
  let rest = markdown;
  let reopen = '';
  while (reopen.length + rest.length > limit) {
    // Room for the closing fence, whether or not it will be needed.
    const room = limit - reopen.length - 4;
    const at = cutPoint(rest, room);
    const piece = reopen + rest.slice(0, at);
    const fence = openFence(piece);
    parts.push(fence === undefined ? piece.trimEnd() : `${piece.replace(/\n$/, '')}\n${fence.marks}`);
    reopen = fence === undefined ? '' : `${fence.line}\n`;
    rest = rest.slice(at).replace(fence === undefined ? /^\s*\n/ : /^\n/, '');
  }
  if (rest.trim() !== '') parts.push(reopen + rest);
  return parts.filter((part) => part.trim() !== '');
}

function cutPoint(text: string, room: number): number {
  const window = text.slice(0, room);
  for (const separator of ['\n\n', '\n', ' ']) {
    const at = window.lastIndexOf(separator);
    if (at > room / 3) return at + separator.length;
  }
  return /[\uD800-\uDBFF]$/.test(window) ? room - 1 : room;
}

function openFence(text: string): { marks: string; line: string } | undefined {
  let open: { marks: string; line: string } | undefined;
  for (const line of text.split('\n')) {
    const [, marks, info] = fenceLine.exec(line) ?? [];
    if (marks === undefined) continue;
    if (open === undefined) open = { marks: marks.slice(0, 3), line: line.slice(0, 60) };
    else if (marks.startsWith(open.marks) && info?.trim() === '') open = undefined;
  }
  return open;
}
