export interface OpenStructure {
  /** The line that ends what is open, or ''. */
  close: string;
  /** The lines that begin it again in the next part, or ''. */
  reopen: string;
}

const nothing: OpenStructure = { close: '', reopen: '' };
/** Fences may stand in quotes and lists. CommonMark, section 4.5. */
const fenceLine = /^((?:[ \t]*>)*[ \t]*)(`{3,}|~{3,})(.*)$/;
const delimiterRow = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const longestFence = 12;
const longestInfo = 40;
const longestHeader = 400;

/** The fence or the table that the end of `text` lies in. */
export function openStructure(text: string): OpenStructure {
  let fence: { indent: string; marks: string; info: string } | undefined;
  let header = '';
  let previous = '';
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const [, indent = '', marks, info = ''] = fenceLine.exec(line) ?? [];
    if (fence !== undefined) {
      if (marks?.startsWith(fence.marks) && info.trim() === '') fence = undefined;
    } else if (marks !== undefined && !(marks.startsWith('`') && info.includes('`'))) {
      fence = { indent, marks: marks.slice(0, longestFence), info: info.trim().slice(0, longestInfo) };
      header = '';
    } else if (line.includes('|') && previous.includes('|') && delimiterRow.test(line)) {
      header = `${previous}\n${line}\n`;
    } else if (!line.includes('|') && index < lines.length - 1) {
      header = '';
    }
    previous = line;
  }
  if (fence !== undefined) return fenceAgain(fence);
  return header !== '' && header.length <= longestHeader && text.endsWith('\n')
    ? { close: '', reopen: header }
    : nothing;
}

function fenceAgain({ indent, marks, info }: { indent: string; marks: string; info: string }): OpenStructure {
  const edge = indent.slice(0, longestFence);
  return { close: `${edge}${marks}`, reopen: `${edge}${marks}${info}\n` };
}
