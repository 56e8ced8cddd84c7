import type { LexedCode } from './inline-lexer.ts';
import type { Language } from './wrappers.ts';

/**
 * The masked code with names spelt as the patterns of inline.ts know them: `from subprocess import run as r; r(…)`
 * becomes `subprocess.run(…)`, `getattr(os, "system")(…)` becomes `os.system(…)`, `require("child_process")["exec"]`
 * becomes `child_process.exec`.
 */
export function spellOut(language: Language, code: LexedCode): string {
  if (language === 'python') return spellPython(code);
  return language === 'javascript' ? spellJavaScript(code) : code.masked;
}

/** Longer code is not a one-liner, and is read as it stands. */
const MAX_ALIASES = 64;

const PYTHON_MODULE = /^(?:os|subprocess|shutil|pty|signal|commands|posix|pathlib)$/;
/** What `from os import *` and its like bring. */
const PYTHON_STAR: Readonly<Record<string, readonly string[]>> = {
  os: ['system', 'popen', 'remove', 'unlink', 'rmdir', 'removedirs', 'kill', 'killpg', 'walk', 'listdir'],
  subprocess: ['run', 'call', 'check_call', 'check_output', 'Popen', 'getoutput', 'getstatusoutput'],
  shutil: ['rmtree', 'move'],
};

function spellPython({ masked, literals }: LexedCode): string {
  const literal = (index: string) => literals[Number(index)] ?? '';
  const isName = (text: string) => /^[A-Za-z_][\w.]*$/.test(text);
  let text = masked.replace(
    /\b(?:__import__|(?:importlib\s*\.\s*)?import_module)\s*\(\s*\uE010(\d+)\uE011\s*\)/g,
    (whole, index: string) => (isName(literal(index)) ? literal(index) : whole),
  );
  text = text.replace(
    /\bgetattr\s*\(\s*([\w.]+)\s*,\s*\uE010(\d+)\uE011\s*(?:,[^()]*)?\)/g,
    (whole, object: string, index: string) =>
      isName(literal(index)) ? `${object}.${literal(index)}` : whole,
  );
  const aliases = new Map<string, string>();
  for (const [, list = ''] of text.matchAll(/\bimport[ \t]+([\w., \t]+)/g)) {
    for (const item of list.split(',')) {
      const [, name = '', alias] = /^\s*([\w.]+)(?:\s+as\s+(\w+))?\s*$/.exec(item) ?? [];
      if (alias !== undefined && PYTHON_MODULE.test(name)) aliases.set(alias, name);
    }
  }
  for (const [, module = '', list = ''] of text.matchAll(/\bfrom\s+([\w.]+)\s+import\s+\(?([\w*, \t]+)/g)) {
    if (!PYTHON_MODULE.test(module)) continue;
    const items = list.includes('*') ? (PYTHON_STAR[module] ?? []) : list.split(',');
    for (const item of items) {
      const [, name = '', alias = name] = /^\s*(\w+)(?:\s+as\s+(\w+))?\s*$/.exec(item) ?? [];
      if (name !== '') aliases.set(alias, `${module}.${name}`);
    }
  }
  text = rename(text, aliases);
  const held = new Map<string, string>();
  for (const [, alias = '', target = ''] of text.matchAll(
    /(?<![\w.])(\w+)\s*=\s*((?:os|subprocess|shutil|pty|posix)(?:\.\w+)?)\s*(?=[;\n]|$)/g,
  )) {
    held.set(alias, target);
  }
  return rename(text, held);
}

/** Where the name is called, looked into, or handed on; not where it is set or is a key. */
function rename(text: string, aliases: ReadonlyMap<string, string>): string {
  let renamed = text;
  for (const [alias, target] of [...aliases].slice(0, MAX_ALIASES)) {
    renamed = renamed.replace(new RegExp(`(?<![\\w.])${alias}(?=\\s*[.(,)])(?!\\s*=)`, 'g'), target);
  }
  return renamed;
}

const CHILD_PROCESS = /^(?:node:)?child_process$/;
const SPAWNERS = 'execFileSync|execFile|execSync|exec|spawnSync|spawn|fork';

function spellJavaScript({ masked, literals }: LexedCode): string {
  const text = masked.replace(/\??\.?\[\s*\uE010(\d+)\uE011\s*\]/g, (whole, index: string) => {
    const name = literals[Number(index)] ?? '';
    return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : whole;
  });
  if (!literals.some((literal) => CHILD_PROCESS.test(literal))) return text;
  const aliases = new Map<string, string>();
  for (const [, name = '', alias = ''] of text.matchAll(
    new RegExp(`\\b(${SPAWNERS})\\s*(?::|\\bas\\b)\\s*(\\w+)`, 'g'),
  )) {
    aliases.set(alias, `child_process.${name}`);
  }
  for (const [, alias = '', name = ''] of text.matchAll(
    new RegExp(`\\b(\\w+)\\s*=\\s*[^;=\\n]{0,100}\\.(${SPAWNERS})\\s*(?=[;,\\n]|$)`, 'g'),
  )) {
    aliases.set(alias, `child_process.${name}`);
  }
  return rename(text, aliases).replace(
    new RegExp(`(?:[\\w$]+|\\))\\s*\\??\\.\\s*(${SPAWNERS})\\s*\\(`, 'g'),
    'child_process.$1(',
  );
}
