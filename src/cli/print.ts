/** Lines for people, columns aligned; or one JSON value for programs. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function printTable(rows: readonly (readonly string[])[]): void {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  for (const row of rows) {
    const line = row
      .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
      .join('  ');
    process.stdout.write(`${line.trimEnd()}\n`);
  }
}

/** A remark for people, on stderr: what reads stdout gets data alone. */
export function printNote(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}
