/** What the demo model understands: plain requests, in English and Russian, each one tool call. */

export interface Step {
  tool: 'terminal' | 'read_file' | 'write_file' | 'search_files';
  args: Readonly<Record<string, string>>;
}

/** A plain request is short; the patterns' time grows with the square of the length. */
const longestRequestUnits = 2000;

interface Intent {
  patterns: readonly RegExp[];
  step(groups: Readonly<Record<string, string | undefined>>): Step;
}

const please = '(?:please |could you |can you |пожалуйста,? ?)?';
const path = '[`"\'«]?(?<path>[^`"\'«»]+?)[`"\'»]?';
const folder = '(?:folder|directory|dir)';
const папку = '(?:папку|каталог|директорию)';

function asked(...sources: string[]): RegExp[] {
  return sources.map((source) => new RegExp(`^${please}${source}[.!?]?$`, 'isu'));
}

/** The first that matches is meant; narrower requests stand before wider ones. */
const intents: readonly Intent[] = [
  {
    patterns: [
      /^(?:\$|!) ?(?<command>.+)$/su,
      /^`(?<command>[^`]+)`$/su,
      new RegExp(`^${please}(?:run|execute)(?: the command)?:? +[\`"]?(?<command>.+?)[\`"]?$`, 'isu'),
      new RegExp(
        `^${please}(?:запусти|выполни)(?:те)?(?: команду)?:? +[\`"«]?(?<command>.+?)[\`"»]?$`,
        'isu',
      ),
    ],
    step: ({ command = '' }) => ({ tool: 'terminal', args: { command } }),
  },
  {
    patterns: asked(
      `(?:delete|remove) (?:the |a )?(?:${folder} ${path}|(?<path2>\\S+) ${folder})`,
      `удали(?:те)? ${папку} ${path}`,
    ),
    step: (groups) => ({
      tool: 'terminal',
      args: { command: `rm -r ${shellWord(groups['path'] ?? groups['path2'] ?? '')}` },
    }),
  },
  {
    patterns: asked(`(?:delete|remove) (?:the )?(?:file )?${path}`, `удали(?:те)? (?:файл )?${path}`),
    step: (groups) => ({ tool: 'terminal', args: { command: `rm ${shellWord(groups['path'] ?? '')}` } }),
  },
  {
    patterns: asked(
      `(?:list|show)(?: me)?(?: all)?(?: the)? files(?: (?:in|of)(?: the)?(?: ${folder})? ${path})?`,
      `what files are (?:here|there)`,
      `(?:покажи|перечисли)(?:те)?(?: мне)?(?: все)? файлы(?: в(?: папке| каталоге)? ${path})?`,
      `(?:какие|что за) (?:здесь |тут )?файлы(?: здесь| тут)?`,
    ),
    step: (groups) => ({
      tool: 'terminal',
      args: { command: `ls -la${groups['path'] ? ` ${shellWord(groups['path'])}` : ''}` },
    }),
  },
  {
    patterns: asked(
      `(?:write|put|save) ["“'«](?<content>.+)["”'»] (?:in|into|to)(?: the)?(?: file)? (?<path>\\S+?)`,
      `(?:create|write|make)(?: a| the)?(?: file)? (?<path>\\S+?) (?:with|saying|containing)(?: the text)?:? ["“'«]?(?<content>.+?)["”'»]?`,
      `запиши(?:те)? ["“«](?<content>.+)["”»] в(?: файл)? (?<path>\\S+?)`,
      `созда(?:й|йте) файл (?<path>\\S+?) с(?: текстом)?:? ["“«]?(?<content>.+?)["”»]?`,
    ),
    step: ({ path: to = '', content = '' }) => ({
      tool: 'write_file',
      args: { path: to, content: `${content}\n` },
    }),
  },
  {
    patterns: asked(
      `(?:find|search for) files(?: named| called)? ${path}`,
      `найди(?:те)? файлы(?: с именем)? ${path}`,
    ),
    step: (groups) => ({ tool: 'search_files', args: { pattern: groups['path'] ?? '', target: 'files' } }),
  },
  {
    patterns: asked(
      `(?:search|find|look|grep)(?: for)? ["“'«]?(?<pattern>.+?)["”'»]?(?: in(?: the)?(?: ${folder}| file)? (?<path>\\S+?))?`,
      `(?:найди|поищи)(?:те)? ["“«]?(?<pattern>.+?)["”»]?(?: в(?: папке| файле)? (?<path>\\S+?))?`,
    ),
    step: ({ pattern = '', path: where }) => ({
      tool: 'search_files',
      args: { pattern: escapeRegExp(pattern), ...(where !== undefined && { path: where }) },
    }),
  },
  {
    patterns: asked(
      `(?:read|open|show|print)(?: me)?(?: the)?(?: file)? (?<path>\\S+?)`,
      `(?:прочитай|прочти|открой|покажи)(?:те)?(?: мне)?(?: файл)? (?<path>\\S+?)`,
    ),
    step: ({ path: from = '' }) => ({ tool: 'read_file', args: { path: from } }),
  },
];

/**
 * The steps that a message asks for, `… then …` apart; null when some part of it isn't understood, since doing half
 * of a request is worse than doing nothing.
 */
export function planOf(text: string): Step[] | null {
  if (text.length > longestRequestUnits) return null;
  const parts = text.split(
    /(?:[,;.]\s*|\s+)(?:and\s+)?then\s+|(?:[,;.]\s*|\s+)(?:а\s+)?(?:затем|потом)\s+/iu,
  );
  const steps = parts.map((part) => stepOf(part.trim()));
  return steps.every((step) => step !== null) ? steps : null;
}

function stepOf(text: string): Step | null {
  for (const intent of intents) {
    for (const pattern of intent.patterns) {
      const match = pattern.exec(text);
      if (match !== null) return intent.step(match.groups ?? {});
    }
  }
  return null;
}

export function asksForHelp(text: string): boolean {
  return /^(?:help|what can you do|who are you|помощь|помоги|что ты умеешь|кто ты)[\s.!?]*$/iu.test(text);
}

/** One word of a shell command, quoted where it must be; it can't be taken for an option. */
export function shellWord(word: string): string {
  const named = word.startsWith('-') ? `./${word}` : word;
  return /^[\w./~@%+:,-]+$/u.test(named) ? named : `'${named.replaceAll("'", "'\\''")}'`;
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
