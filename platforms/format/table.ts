import type { Tokens } from 'marked';
import { plainText } from './markdown.ts';
import { displayWidth } from './units.ts';

/** Wider cells would push the columns after them off a phone's screen. */
const widestCell = 60;

/** A table as lines of equal columns, for platforms without tables; it goes into a code block. */
export function alignedTable(table: Tokens.Table): string {
  const grid = [table.header, ...table.rows].map((row) =>
    row.map((cell) => plainText(cell.tokens).replaceAll('\n', ' ')),
  );
  const widths = table.header.map((_cell, column) =>
    Math.min(widestCell, Math.max(...grid.map((row) => displayWidth(row[column] ?? '')))),
  );
  const line = (row: readonly string[]) =>
    widths
      .map((width, column) => pad(row[column] ?? '', width, table.align[column] === 'right'))
      .join(' │ ')
      .trimEnd();
  const [head = [], ...body] = grid;
  return [line(head), widths.map((width) => '─'.repeat(width)).join('─┼─'), ...body.map(line)].join('\n');
}

function pad(cell: string, width: number, right: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(cell)));
  return right ? blanks + cell : cell + blanks;
}
