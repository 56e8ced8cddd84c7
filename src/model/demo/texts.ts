/** What the demo model says. Not in the catalogue of messages: these are a model's words, not the gateway's. */
export interface DemoTexts {
  help: string;
  notUnderstood: string;
  toolMissing(tool: string): string;
  notRun(what: string, why: string): string;
  failed(what: string, why: string): string;
  output(what: string, text: string): string;
  noOutput(what: string): string;
  exited(what: string, code: number, text: string): string;
  wrote(path: string, bytes: number): string;
  nothingFound(pattern: string): string;
  found(pattern: string, text: string): string;
  done: string;
}

const en: DemoTexts = {
  help: `I'm the built-in demo model: a few rules, no intelligence, no network. I'm here to show tools and approvals without a key. I understand, for example:

- run ls -la
- list files in src
- read notes.txt
- write "hello" to notes.txt
- search for TODO in src
- delete the folder build (asks you first)
- run mkdir build, then list files

Set OPENAI_API_KEY to talk to a real model.`,
  notUnderstood:
    'I\'m the built-in demo model and understand only a handful of phrases. Try "list files" or "delete the folder build", or say "help". For a real model set OPENAI_API_KEY.',
  toolMissing: (tool) => `I would need the tool ${tool} for that, and it isn't enabled here.`,
  notRun: (what, why) => `I did not run ${what}. ${why}`,
  failed: (what, why) => `${what} did not work: ${why}`,
  output: (what, text) => `${what} says:\n\n${text}`,
  noOutput: (what) => `Done: ${what}. It printed nothing.`,
  exited: (what, code, text) => `${what} ended with exit code ${code}.${text === '' ? '' : `\n\n${text}`}`,
  wrote: (path, bytes) => `Done: ${path} is written (${bytes} bytes).`,
  nothingFound: (pattern) => `Nothing found for ${pattern}.`,
  found: (pattern, text) => `Found for ${pattern}:\n\n${text}`,
  done: 'Done.',
};

const ru: DemoTexts = {
  help: `Я встроенная демо-модель: несколько правил, без интеллекта и без сети. Я показываю инструменты и подтверждения без ключа. Я понимаю, например:

- выполни ls -la
- покажи файлы в src
- прочитай notes.txt
- запиши «привет» в notes.txt
- найди TODO в src
- удали папку build (сначала спрошу)
- выполни mkdir build, затем покажи файлы

Чтобы говорить с настоящей моделью, задайте OPENAI_API_KEY.`,
  notUnderstood:
    'Я встроенная демо-модель и понимаю лишь несколько фраз. Попробуйте «покажи файлы» или «удали папку build», или скажите «помощь». Для настоящей модели задайте OPENAI_API_KEY.',
  toolMissing: (tool) => `Для этого нужен инструмент ${tool}, а здесь он не включён.`,
  notRun: (what, why) => `Я не выполнил ${what}. ${why}`,
  failed: (what, why) => `${what} не получилось: ${why}`,
  output: (what, text) => `${what} выводит:\n\n${text}`,
  noOutput: (what) => `Готово: ${what}. Вывода нет.`,
  exited: (what, code, text) => `${what} завершилось с кодом ${code}.${text === '' ? '' : `\n\n${text}`}`,
  wrote: (path, bytes) => `Готово: ${path} записан (${bytes} байт).`,
  nothingFound: (pattern) => `По запросу ${pattern} ничего не найдено.`,
  found: (pattern, text) => `Найдено по запросу ${pattern}:\n\n${text}`,
  done: 'Готово.',
};

/** In the language that the person wrote in. */
export function textsFor(said: string): DemoTexts {
  return /\p{Script=Cyrillic}/u.test(said) ? ru : en;
}
