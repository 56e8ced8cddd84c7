import type { Messages } from './messages.ts';

const plural = new Intl.PluralRules('ru');
/** Russian forms: 1 файл, 2 файла, 5 файлов. */
function count(n: number, one: string, few: string, many: string): string {
  const form = plural.select(n);
  return `${n} ${form === 'one' ? one : form === 'few' ? few : many}`;
}
const messageCount = (n: number) => count(n, 'сообщение', 'сообщения', 'сообщений');
const requestCount = (n: number) => count(n, 'запрос', 'запроса', 'запросов');
const times = { once: 'один раз', session: 'на эту сессию', always: 'навсегда' } as const;

export const ru: Messages = {
  card: {
    title: '⚠️ Можно это выполнить?',
    why: 'Почему спрашиваю',
    where: 'Где',
    reach: 'Затронет',
    reachUnknown: 'неизвестно',
    askedBy: 'Попросил',
    remembers: '«Сессия» и «Всегда» разрешат',
    expiresIn: (minutes) => `Без ответа за ${count(minutes, 'минуту', 'минуты', 'минут')} не выполнится.`,
    once: '✅ Один раз',
    session: '🔁 Сессия',
    always: '♾ Всегда',
    deny: '⛔ Отказать',
    confirmAlways: 'Разрешить это впредь, не спрашивая?',
    cancel: 'Отмена',
    denyReason: 'Почему нет? (необязательно, агент прочтёт)',
    smartDenied: 'Автоматическая проверка советует отказать.',
    tooLong: 'Здесь это не показать целиком, поэтому можно только отказать.',
    place: (backend, cwd) => (backend === 'local' ? `этот компьютер, в ${cwd}` : `${backend}, в ${cwd}`),
    outcome(words) {
      switch (words.kind) {
        case 'approved':
          return `✅ Разрешено ${times[words.choice]}: ${words.by}, ${words.time}`;
        case 'denied':
          return `⛔ Отказано: ${words.by}, ${words.time}${words.reason ? `: ${words.reason}` : ''}`;
        case 'answered':
          return `✅ ${words.by}: ${words.answer}`;
        case 'expired':
          return '⌛ Срок вышел без ответа. Не выполнено.';
        case 'superseded':
          return '↩️ Снято: вы написали другое. Не выполнено.';
      }
    },
  },
  question: { title: '❓ Вопрос', other: '✏️ Другое…', otherHint: 'Или просто напишите ответ.' },
  press: {
    notYours: (asker) => `Решить может только ${asker} или администратор.`,
    already: 'Это уже решено.',
    expired: 'Срок вышел; ничего не выполнено.',
    unknown: 'Эта карточка больше не действует.',
    notOffered: 'На этой карточке такого выбора нет.',
    stranger: 'У вас нет доступа к этому боту.',
    approved: 'Разрешено.',
    denied: 'Отказано.',
    answered: 'Спасибо.',
    typeAnswer: 'Напишите ответ сообщением.',
    notKept: (reason) => `«Всегда» не удалось сохранить, поэтому ничего не разрешено: ${reason}`,
  },
  busy: {
    interrupt: '↩️ Бросаю то, что делал, и берусь за новое сообщение.',
    queue: (position) => `⏳ Ещё занят. Ваше сообщение в очереди (${position}).`,
    steer: '🧭 Учту это в том, что делаю.',
    full: (limit) => `Я занят, и ${messageCount(limit)} уже ждут, поэтому это не принято. Пришлите позже.`,
  },
  turn: {
    budgetSpent: '(Останавливаюсь: шаги на один запрос кончились. Напишите «дальше», чтобы продолжить.)',
    emptyReply: 'Модель ничего не ответила. Попробуйте ещё раз или иначе.',
    failed: (what, mend, errorId) => `⚠️ ${what}${mend ? ` ${mend}` : ''} (ошибка ${errorId})`,
    gaveUp: (errorId) =>
      `⚠️ Меня несколько раз прервали на этом, и я это отложил. Пришлите снова, если ещё нужно. (ошибка ${errorId})`,
    stalled: (errorId) =>
      `⚠️ Слишком долго ничего не происходило, я прекратил. Пришлите снова, чтобы повторить. (ошибка ${errorId})`,
    stopped: '⏹ Остановлено.',
    longAnswer: (name) => `Весь ответ — в файле ${name}.`,
    reset: (reason) =>
      reason === 'idle'
        ? '🕘 Прошло много времени, это новый разговор. /help — что я умею.'
        : '🌅 Новый день, новый разговор.',
    backOnline: '✅ Снова на связи.',
    restarting: '🔄 Перезапускаюсь. Продолжу после.',
    fileMissing: (path) => `(Хотел отправить ${path}, но не могу прочитать.)`,
    attachment: (name, path) => `[Приложен файл: ${name}, сохранён как ${path}]`,
    attachmentFailed: (name, why) => `[Приложенный файл ${name} не удалось получить: ${why}]`,
    deliveryFailed: '⚠️ Часть моего ответа не удалось доставить сюда.',
  },
  adapter: {
    thinking: 'думает…',
    prompts: [
      { title: 'Что ты умеешь?', message: 'Что ты умеешь и какие инструменты у тебя здесь есть?' },
      { title: 'Введи в курс дела', message: 'Чем ты сейчас занят и что ждёт моего решения?' },
      { title: 'Напомни', message: 'Напомни мне завтра в 9:00 ' },
    ],
    notInThisChannel: 'В этом канале я не отвечаю.',
    notStored: 'Сейчас не удалось это сохранить. Попробуйте ещё раз через минуту.',
  },
  failures: new Map([
    ['model_unauthorized', { what: 'Провайдер модели не принял ключ.', mend: 'Проверьте OPENAI_API_KEY.' }],
    [
      'model_rate_limited',
      { what: 'Провайдер модели ограничивает запросы.', mend: 'Подождите немного и попробуйте снова.' },
    ],
    ['model_unavailable', { what: 'Модель сейчас недоступна.', mend: 'Попробуйте через несколько минут.' }],
    [
      'model_rejected',
      { what: 'Провайдер модели отклонил запрос.', mend: 'Если так будет и дальше, начните заново: /new.' },
    ],
    [
      'model_context_exceeded',
      { what: 'Разговор слишком длинный для этой модели.', mend: 'Начните новый: /new.' },
    ],
    [
      'environment_unavailable',
      { what: 'Среда для команд недоступна.', mend: 'Администратору поможет hermes-gateway doctor.' },
    ],
    [
      'environment_refused',
      { what: 'Среда для команд отклонила запрос.', mend: 'Администратору поможет hermes-gateway doctor.' },
    ],
  ]),
  access: {
    pairing: (code, platform) =>
      `Привет! Мы ещё не знакомы. Попросите владельца бота выполнить:\n\n\`hermes-gateway pair approve ${platform} ${code}\`\n\nКод действует час.`,
  },
  commands: {
    about: {
      help: 'что я умею',
      new: 'начать новый разговор',
      reset: 'то же, что /new',
      stop: 'остановить то, что я делаю',
      status: 'что я делаю',
      approve: 'разрешить ожидающее: /approve [session|always|all]',
      deny: 'отказать: /deny [all|причина]',
      toolsets: 'какие у меня здесь инструменты',
      queue: 'сделать это после нынешней задачи: /queue ТЕКСТ',
      steer: 'учесть это в нынешней задаче: /steer ТЕКСТ',
      retry: 'ответить на последнее сообщение заново',
      undo: 'взять назад последнее сообщение',
      usage: 'сколько токенов потрачено',
      whoami: 'кто вы для меня',
      sethome: 'сделать этот чат местом уведомлений',
      approvals: 'что разрешено всегда (админам): /approvals [forget ЗАПИСЬ]',
      restart: 'перезапустить меня (админам)',
    },
    unknown: (name) => `Я не знаю /${name}. Список команд — /help.`,
    busy: (name) => `Я занят; /${name} сработает, когда закончу, или после /stop.`,
    help: 'Пишите мне как коллеге. Прежде чем выполнить опасное, я спрошу — кнопками.',
    fresh: '✨ Новый разговор.',
    stopped: ({ turn, processes, queued }) =>
      [
        turn ? '⏹ Остановлено.' : '⏹',
        processes > 0
          ? `Завершено ${count(processes, 'фоновый процесс', 'фоновых процесса', 'фоновых процессов')}.`
          : '',
        queued > 0 ? `Отброшено: ${messageCount(queued)}.` : '',
      ]
        .filter((part) => part !== '')
        .join(' '),
    nothingToStop: 'Ничего не выполняется.',
    nothingPending: 'Ничто не ждёт решения.',
    approvedCount: (n) => `✅ Разрешено: ${requestCount(n)}.`,
    deniedCount: (n) => `⛔ Отказано: ${requestCount(n)}.`,
    status: (facts) =>
      [
        `**Состояние** ${facts.state}`,
        `**Ждут сообщения** ${facts.queued}`,
        `**Ждут решения** ${facts.pending}`,
        `**Фоновые процессы** ${facts.processes}`,
        `**Модель** ${facts.model}`,
        `**Работаю** ${facts.uptime}`,
        `**Сессия** \`${facts.session}\``,
      ].join('\n'),
    toolsets: (names, tools) =>
      `${names}\n\nВсего: ${count(tools, 'инструмент', 'инструмента', 'инструментов')}.`,
    queued: '⏳ В очереди.',
    steered: '🧭 Учту.',
    needsText: (name) => `Пишите так: /${name} ТЕКСТ.`,
    nothingToRetry: 'Нет сообщения, на которое ответить заново.',
    undone: (text) => `↩️ Взято назад: «${text}»`,
    nothingToUndo: 'Нечего брать назад.',
    usage: (facts) =>
      `В этом чате: ${count(facts.turns, 'вызов модели', 'вызова модели', 'вызовов модели')}, ${facts.inputTokens} входных и ${facts.outputTokens} выходных токенов.`,
    whoami: (facts) =>
      `Вы — ${facts.name}, id \`${facts.id}\` на ${facts.platform}${facts.admin ? ', администратор' : ''}.\nСессия \`${facts.session}\``,
    homeSet: '🏠 Уведомления теперь приходят сюда.',
    adminsOnly: 'Это может только администратор.',
    allowlist: (entries) =>
      entries.length === 0
        ? 'Всегда ничего не разрешено.'
        : `Разрешено всегда:\n${entries.map((entry) => `- \`${entry}\``).join('\n')}`,
    forgotten: (entry) => `Забыто: \`${entry}\``,
    notFound: (entry) => `Записи \`${entry}\` нет.`,
  },
};
