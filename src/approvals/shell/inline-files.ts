/** A string literal of masked code, with its prefix (`rb"…"`), perhaps within `os.path.expanduser(…)`. */
const L = String.raw`(?:[\w.]+\s*\(\s*)?[a-zA-Z]{0,2}\uE010(\d+)\uE011`;
const call = (names: string) => String.raw`(?<![\w$])(?:${names})\s*\(?\s*`;
const path = (method: string) => String.raw`\bPath\s*\(\s*${L}\s*\)\s*\.\s*(?:${method})\s*\(`;

interface FileCall {
  readonly pattern: RegExp;
  /** The command that does the same, given the literals of the call. */
  readonly command: (...literals: string[]) => readonly string[];
}

const named = (pattern: string, command: FileCall['command']): FileCall => ({
  pattern: new RegExp(pattern, 'g'),
  command,
});

/** What code does to a file that it names, as the command that does the same: the rules for that one decide. */
const FILE_CALLS: readonly FileCall[] = [
  ...[
    call(
      String.raw`os\.(?:remove|unlink)|(?:[\w$)]+\.)?(?:unlink|rm)(?:Sync)?|File\.(?:delete|unlink)|FileUtils\.rm(?:_f)?|Deno\.remove(?:Sync)?`,
    ) + L,
    path('unlink'),
  ].map((pattern) => named(pattern, (file = '') => ['rm', '--', file])),
  ...[
    call(
      String.raw`(?:[\w$)]+\.)?(?:writeFile|appendFile|createWriteStream)(?:Sync)?|File\.write|IO\.write|file_put_contents|Deno\.write(?:Text)?File(?:Sync)?`,
    ) + L,
    path('write_text|write_bytes'),
  ].map((pattern) => named(pattern, (file = '') => ['tee', '--', file])),
  ...[
    call(
      String.raw`(?:[\w$)]+\.)?(?:readFile|createReadStream)(?:Sync)?|File\.read(?:lines)?|IO\.read|file_get_contents|readfile|Deno\.read(?:Text)?File(?:Sync)?`,
    ) + L,
    path('read_text|read_bytes'),
  ].map((pattern) => named(pattern, (file = '') => ['cat', '--', file])),
  named(
    String.raw`${call(String.raw`(?:io\.|File\.|os\.)?f?open`)}${L}(?:\s*\))?\s*(?:,\s*(?:mode\s*=\s*)?[a-zA-Z]{0,2}\uE010(\d+)\uE011)?`,
    (file = '', mode = 'r') => [/[wax+]/.test(mode) ? 'tee' : 'cat', '--', file],
  ),
  // Perl: `open(F, ">", "x")`.
  named(String.raw`\bopen\s*\(?[^,;\uE010]{1,80},\s*\uE010(\d+)\uE011\s*,\s*${L}`, (mode = '', file = '') => [
    mode.includes('>') ? 'tee' : 'cat',
    '--',
    file,
  ]),
  named(
    String.raw`${call(String.raw`os\.(?:rename|replace)|shutil\.move|(?:[\w$)]+\.)?rename(?:Sync)?|File\.rename|FileUtils\.mv`)}${L}(?:\s*\))?\s*,\s*${L}`,
    (from = '', to = '') => ['mv', '--', from, to],
  ),
  named(
    String.raw`${call(String.raw`shutil\.copy(?:2|file|tree)?|(?:[\w$)]+\.)?(?:copyFile|cp)(?:Sync)?|FileUtils\.cp|copy`)}${L}(?:\s*\))?\s*,\s*${L}`,
    (from = '', to = '') => ['cp', '--', from, to],
  ),
];

/** The commands that do what the code does to files. */
export function fileCommands(masked: string, literals: readonly string[]): string[][] {
  return FILE_CALLS.flatMap(({ pattern, command }) =>
    [...masked.matchAll(pattern)].map(([, ...indexes]) => [
      ...command(
        ...indexes.filter((index) => index !== undefined).map((index) => literals[Number(index)] ?? ''),
      ),
    ]),
  );
}
