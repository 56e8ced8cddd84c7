import type { CodeFact } from './command.ts';
import { fileCommands } from './inline-files.ts';
import { type LexedCode, lexCode } from './inline-lexer.ts';
import { spellOut } from './inline-names.ts';
import { UNKNOWN } from './value.ts';
import type { Language } from './wrappers.ts';

/** What inline code does, and the shell texts and argument lists that it plainly hands to a shell or a program. */
export interface InlineCode {
  readonly facts: ReadonlySet<CodeFact>;
  readonly shellTexts: readonly string[];
  readonly commands: readonly (readonly string[])[];
}

interface FactPattern {
  readonly fact: CodeFact;
  readonly languages?: readonly Language[];
  readonly pattern: RegExp;
}

/** Over the code with its string literals and comments taken out, so that text in strings never counts. */
const FACTS: readonly FactPattern[] = [
  { fact: 'deletes-tree', pattern: /\b(?:shutil\.)?rmtree\s*\(|\bremovedirs\s*\(|\brmdirs\s*\(/ },
  {
    fact: 'deletes-tree',
    languages: ['javascript'],
    pattern:
      /\brimraf\b|\b(?:emptyDir|removeSync|del)(?:Sync)?\s*\(|\brm(?:dir)?(?:Sync)?\s*\([^;]{0,400}\brecursive\b|\bDeno\.remove(?:Sync)?\s*\([^;]{0,400}\brecursive\b/,
  },
  {
    fact: 'deletes-tree',
    languages: ['ruby'],
    pattern: /\b(?:rm_rf|rm_r|remove_dir|remove_entry(?:_secure)?|rmtree)\b/,
  },
  {
    fact: 'deletes-tree',
    languages: ['perl'],
    pattern: /\b(?:rmtree|remove_tree)\b|\bunlink\s*\(?\s*(?:glob\b|<|@)/,
  },
  {
    fact: 'deletes-tree',
    languages: ['python', 'javascript', 'php', 'ruby'],
    pattern:
      /\b(?:walk|glob|rglob|iterdir|listdir|scandir|readdirSync|readdir|Dir\.\w+)\b[\s\S]{0,400}\b(?:os\.(?:remove|unlink|rmdir)|unlink(?:Sync)?|rmSync|File\.delete|rmdir)\s*\(/,
  },
  {
    fact: 'deletes-tree',
    languages: ['python'],
    pattern:
      /\b(?:os\.(?:remove|unlink|rmdir)|\w+\.unlink)\s*\([^\n]{0,200}\bfor\b[^\n]{0,200}\b(?:r?glob|iterdir|listdir|scandir|walk)\b/,
  },
  {
    fact: 'deletes-tree',
    languages: ['php'],
    pattern: /\barray_(?:map|walk)\s*\(\s*\uE010\d+\uE011\s*,\s*glob\b/,
  },
  {
    fact: 'reverse-shell',
    languages: ['javascript'],
    pattern:
      /\b(?:spawn|exec)\w*\s*\([\s\S]{0,1000}\b(?:net\.(?:connect|createConnection|Socket)|new\s+net\b)/,
  },
  {
    fact: 'kills',
    pattern:
      /\bos\.kill(?:pg)?\s*\(|\bprocess\.kill\s*\(|\bProcess\.kill\b|\bposix_kill\s*\(|\bkillpg\s*\(|\.(?:kill|terminate)\s*\(\s*\)/,
  },
  { fact: 'kills', languages: ['perl'], pattern: /\bkill\s*\(?\s*(?:\d|\uE010|-?[A-Z]{3,})/ },
  {
    fact: 'forks-endlessly',
    pattern:
      /\bfork\b\s*(?:\(\s*\))?\s+while\b|\bwhile\s*\(?\s*(?:True|true|1|fork)\b[\s\S]{0,60}\bfork\b|\bloop\b\s*(?:do|\{)\s*\bfork\b/,
  },
  {
    fact: 'reverse-shell',
    pattern:
      /\bdup2\s*\([\s\S]{0,400}(?:\.fileno|\bfileno|sock)|\bpty\.spawn\s*\(|(?:\bsocket\b|\bTCPSocket\b|\bfsockopen\b|\bSocket\b|net\.(?:connect|Socket|createConnection))[\s\S]{0,2000}(?:\bexec\b|\bsystem\b|\bspawn\b|\bpopen\b|\bproc_open\b|\bshell_exec\b|\bsubprocess\b|\bchild_process\b|\bpassthru\b|\bexecve?\b|\bos\.dup2\b|\bcmd\b)/,
  },
  {
    fact: 'runs-decoded',
    languages: ['python'],
    pattern:
      /\b(?:exec|eval|compile)\s*\([\s\S]{0,200}\b(?:b(?:16|32|64|85)decode|a85decode|decode(?:bytes|string)?|fromhex|unhexlify|decompress|loads|rot13|chr)\b/,
  },
  {
    fact: 'runs-decoded',
    languages: ['javascript'],
    pattern:
      /\b(?:eval|Function|runIn\w+Context)\s*\([\s\S]{0,200}\b(?:atob|Buffer\.from|fromCharCode|unescape|decodeURIComponent)\b/,
  },
  {
    fact: 'runs-decoded',
    languages: ['perl', 'ruby', 'php'],
    pattern:
      /\b(?:eval|assert|instance_eval|class_eval)\b[\s\S]{0,200}\b(?:decode_?base64|decode64|base64_decode|unpack|pack|gzinflate|str_rot13|hex2bin)\b/,
  },
  {
    fact: 'runs-fetched',
    languages: ['python'],
    pattern: /\b(?:exec|eval)\s*\([\s\S]{0,200}\b(?:urlopen|urlretrieve|requests\.get|httpx\.get)\b/,
  },
  {
    fact: 'runs-fetched',
    languages: ['javascript'],
    pattern: /\bfetch\s*\([\s\S]{0,300}\b(?:eval|Function)\b/,
  },
  {
    fact: 'runs-fetched',
    languages: ['ruby', 'php', 'perl'],
    pattern: /\beval\b[\s\S]{0,200}\b(?:URI\.open|open-uri|Net::HTTP|file_get_contents|LWP::Simple|get\s*\()/,
  },
  {
    fact: 'spawns-unknown',
    languages: ['python'],
    pattern: /\b(?:exec|eval)\s*\(\s*(?:input|sys\.stdin|sys\.argv|os\.environ)\b/,
  },
  // A call that is handed on, or a module or a function whose name is put together.
  {
    fact: 'spawns-unknown',
    languages: ['python'],
    pattern:
      /\b(?:os\.(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?)|subprocess\.(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput))\b(?!\s*[(.\w])|\b(?:__import__|import_module)\s*\(\s*[^\s\w)]|\bgetattr\s*\(\s*(?:os|subprocess|shutil|posix)\b/,
  },
  { fact: 'deletes-tree', languages: ['python'], pattern: /\bshutil\.rmtree\b(?!\s*[.\w])/ },
  {
    fact: 'deletes-tree',
    languages: ['javascript'],
    pattern: /\brm(?:Sync)?\s*\([^;{}]{0,400},\s*[A-Za-z_$][\w$]*\s*[,)]/,
  },
  { fact: 'spawns-unknown', languages: ['javascript'], pattern: /\bprocess\.(?:binding|dlopen)\s*\(/ },
  { fact: 'spawns-unknown', languages: ['applescript'], pattern: /\bdo\s+shell\s+script\s+(?!\uE010)/ },
  {
    fact: 'spawns-unknown',
    languages: ['powershell'],
    pattern: /\b(?:iex|Invoke-Expression)\b|-EncodedCommand/i,
  },
  {
    fact: 'deletes-tree',
    languages: ['powershell'],
    pattern: /\b(?:Remove-Item|rm|del|ri)\b[^;|]*-(?:Recurse|r\b)/i,
  },
];

/** Calls that hand their first argument to a shell, or run their arguments. The group ends just before the argument. */
const SHELL_CALLS: Readonly<Partial<Record<Language, RegExp>>> = {
  python:
    /\b(?:os\.(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?)|commands\.getoutput|subprocess\.(?:getoutput|getstatusoutput)|create_subprocess_shell|(?:(?:subprocess|sp)\.)(?:run|call|check_call|check_output|Popen)|(?<![\w.])(?:system|popen|check_call|check_output|Popen))\s*\(/g,
  javascript:
    /(?<![\w$.])(?:child_process\.|cp\.|require\s*\(\s*\uE010\d+\uE011\s*\)\s*\.)?(?:exec|execSync|spawn|spawnSync|execFile|execFileSync|execa|execaSync|execaCommand)\s*\(|\b(?:Bun\.spawn(?:Sync)?|Deno\.run|new\s+Deno\.Command)\s*\(|(?<![\w])\$(?=\uE010)/g,
  perl: /(?<![\w$@%>:])(?:system|exec|qx)\b\s*\(?|\bopen\s*\([^,;]{0,80},\s*(?=\uE010)/g,
  ruby: /(?<![\w.:])(?:Kernel\.|IO\.|Open3\.|Process\.)?(?:system|exec|spawn|popen|capture[23]e?|%x)\s*\(?\s*(?=[\uE010[\w@$#(])|\bOpen3\.\w+\s*\(/g,
  php: /(?<![\w$>:])(?:system|exec|shell_exec|passthru|popen|proc_open|pcntl_exec)\s*\(/g,
  lua: /\b(?:os\.execute|io\.popen)\s*\(?/g,
  awk: /\bsystem\s*\(|\|\s*&?\s*(?=\uE010)|(?<=[;{}\n]|^)\s*(?=(?:\uE010\d+\uE011)\s*\|\s*getline)/g,
  r: /\b(?:system2?|run|System\.cmd|os\.cmd|execute)\s*\(/g,
  tcl: /\b(?:exec|spawn)\s+/g,
  applescript: /\bdo\s+shell\s+script\s+(?=\uE010)/g,
};
const BACKTICK_LANGUAGES: readonly Language[] = ['perl', 'ruby', 'php'];
/** Calls that run a shell text; of the others the first argument is a program unless a shell is asked for. */
const ALWAYS_SHELL =
  /system|popen|getoutput|getstatusoutput|create_subprocess_shell|exec(?:Sync|aCommand)?\s*\(|shell_exec|passthru|execute|qx|%x|\||do\s+shell|System\.cmd|os\.cmd|^\s*$|^\$/;
const PROGRAM_CALL =
  /exec[lv]p?e?\s*\(|spawn|execFile|execa(?:Sync)?\s*\(|(?:run|call|check_call|check_output|Popen)\s*\(|Deno|pcntl_exec/;

export function readInlineCode(language: Language, source: string): InlineCode {
  const lexed = lexCode(language, source);
  const code = { ...lexed, masked: spellOut(language, lexed) };
  const facts = new Set<CodeFact>();
  for (const { fact, languages, pattern } of FACTS) {
    if ((languages === undefined || languages.includes(language)) && pattern.test(code.masked))
      facts.add(fact);
  }
  if (
    /base64|b64|fromhex|unhexlify|rot13|zlib|marshal/.test(source) &&
    /\b(?:exec|eval|__import__|getattr)\s*\(/.test(code.masked) &&
    /decode|loads|decompress|fromhex/.test(source)
  ) {
    facts.add('runs-decoded');
  }
  const shellTexts: string[] = [];
  const commands = fileCommands(code.masked, code.literals);
  if (BACKTICK_LANGUAGES.includes(language)) shellTexts.push(...code.backticks);
  const calls = SHELL_CALLS[language];
  for (const match of calls === undefined ? [] : code.masked.matchAll(calls)) {
    readCall(language, code, match[0], match.index + match[0].length, { facts, shellTexts, commands });
  }
  return { facts, shellTexts, commands };
}

interface Found {
  facts: Set<CodeFact>;
  shellTexts: string[];
  commands: string[][];
}

function readCall(language: Language, code: LexedCode, call: string, at: number, found: Found): void {
  const argument = argumentText(code.masked, at, call.endsWith('('));
  if (argument.length >= MAX_ARGUMENT) found.facts.add('spawns-unknown');
  // Tcl has no calls with brackets: its words are a shell's.
  if (language === 'tcl') {
    found.shellTexts.push(
      argument.replace(/\uE010(\d+)\uE011/g, (_mark, index) => `"${code.literals[Number(index)] ?? ''}"`),
    );
    return;
  }
  if (
    language === 'javascript' &&
    /^exec\s*\($/.test(call) &&
    !/child_process|execSync|\bcp\b/.test(code.source)
  )
    return;
  const literals = [...argument.matchAll(/\uE010(\d+)\uE011/g)].map(
    (match) => code.literals[Number(match[1])] ?? '',
  );
  const listed = /^\s*[[(]/.test(argument);
  const asProgram =
    PROGRAM_CALL.test(call) && !(ALWAYS_SHELL.test(call) && !/spawn|Popen|exec[lv]/.test(call));
  const [first] = literals;
  const startsLiteral = /^\s*(?:[[(]\s*)?[a-zA-Z]{0,2}\uE010/.test(argument);
  if (!startsLiteral || first === undefined) {
    const shell = !asProgram || /shell\s*[=:]\s*(?:True|true)/.test(argument);
    if (shell && argument.trim() !== '' && argument.trim() !== ')') found.facts.add('spawns-unknown');
    return;
  }
  const several =
    literals.length > 1 &&
    (listed || asProgram || language === 'perl' || language === 'ruby') &&
    /^[\s[(]*[a-zA-Z]{0,2}\uE010\d+\uE011\s*,/.test(argument);
  if (several || (listed && asProgram)) {
    const args = argument.split(',');
    const list = args.map((arg) => {
      const index = /\uE010(\d+)\uE011/.exec(arg)?.[1];
      return index === undefined ? UNKNOWN : (code.literals[Number(index)] ?? UNKNOWN);
    });
    found.commands.push(/exec[lv]|spawn[lv]/.test(call) ? list.slice(1) : list);
    return;
  }
  // What is joined to the literal is not known: `"rm -r " + name`, `"rm " $2`.
  const joined =
    /\uE011\s*(?:\+|\.|\$|%|[a-zA-Z_$(@])/.test(argument) &&
    !/^\s*[a-zA-Z]{0,2}\uE010\d+\uE011\s*[,)]/.test(argument);
  found.shellTexts.push(joined ? first + UNKNOWN : first);
}

/** Of a longer list of arguments the rest is not read; the call then counts as one that cannot be seen. */
const MAX_ARGUMENT = 4_000;

/** The text of a call's arguments: up to its closing bracket or, where it has none, the end of the line or statement. */
function argumentText(masked: string, at: number, hasBracket: boolean): string {
  let depth = 0;
  const end = Math.min(masked.length, at + MAX_ARGUMENT);
  for (let index = at; index < end; index += 1) {
    const char = masked[index];
    if (char === '(' || char === '[' || char === '{') depth += 1;
    else if (char === ')' || char === ']' || char === '}') {
      if (depth === 0) return masked.slice(at, index);
      depth -= 1;
    } else if ((char === ';' || (char === '\n' && !hasBracket)) && depth === 0)
      return masked.slice(at, index);
  }
  return masked.slice(at, end);
}
