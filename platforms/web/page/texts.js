/** The page's own words. What the bot says comes from the gateway, in its own catalogue. */
const catalogue = {
  en: {
    chats: 'Chats',
    newChat: 'New chat',
    removeChat: 'Delete this chat',
    removeAsk: 'Delete this chat and its files here? It cannot be undone.',
    messages: 'Messages',
    commands: 'Commands',
    skip: 'Skip to the message field',
    welcome: 'What can I do for you?',
    welcomeHint:
      'I work with tools on this machine. Before anything dangerous runs, you see it here and decide.',
    suggestions: ['What can you do?', 'List the files here', '/status'],
    working: 'Working',
    latest: 'Latest',
    attach: 'Attach files',
    detach: 'Remove',
    say: 'Message',
    stop: 'Stop',
    send: 'Send',
    cancel: 'Cancel',
    go: 'Continue',
    connecting: 'Connecting…',
    offline: 'No connection to the gateway. Trying again…',
    signedOut: 'Signed out. Open the URL that the gateway printed.',
    notSent: 'Not sent yet. Trying again…',
    tooLong: 'This cannot be sent: ',
    uploadFailed: 'The file was not uploaded: ',
    left: 'left',
    lapsed: 'Time is up',
    copy: 'Copy',
    copied: 'Copied',
    download: 'Download',
    toStop: 'to be approved: ',
    you: 'You',
    bot: 'Hermes',
  },
  ru: {
    chats: 'Чаты',
    newChat: 'Новый чат',
    removeChat: 'Удалить этот чат',
    removeAsk: 'Удалить этот чат и его файлы здесь? Вернуть их будет нельзя.',
    messages: 'Сообщения',
    commands: 'Команды',
    skip: 'К полю сообщения',
    welcome: 'Чем помочь?',
    welcomeHint:
      'Я работаю инструментами на этой машине. Прежде чем запустить опасное, покажу его здесь, и решать вам.',
    suggestions: ['Что ты умеешь?', 'Покажи файлы', '/status'],
    working: 'Работаю',
    latest: 'К последним',
    attach: 'Приложить файлы',
    detach: 'Убрать',
    say: 'Сообщение',
    stop: 'Остановить',
    send: 'Отправить',
    cancel: 'Отмена',
    go: 'Продолжить',
    connecting: 'Соединяюсь…',
    offline: 'Нет связи со шлюзом. Пробую снова…',
    signedOut: 'Вход закрыт. Откройте адрес, который напечатал шлюз.',
    notSent: 'Ещё не отправлено. Пробую снова…',
    tooLong: 'Это нельзя отправить: ',
    uploadFailed: 'Файл не загружен: ',
    left: 'осталось',
    lapsed: 'Время вышло',
    copy: 'Копировать',
    copied: 'Скопировано',
    download: 'Скачать',
    toStop: 'нужно решение: ',
    you: 'Вы',
    bot: 'Hermes',
  },
};

const language = navigator.language.toLowerCase().startsWith('ru') ? 'ru' : 'en';

export const texts = catalogue[language];

/** Writes the words into the elements that name them by `data-text`, `data-label` and `data-placeholder`. */
export function fillTexts(root) {
  document.documentElement.lang = language;
  for (const element of root.querySelectorAll('[data-text]'))
    element.textContent = texts[element.dataset.text];
  for (const element of root.querySelectorAll('[data-label]')) {
    element.setAttribute('aria-label', texts[element.dataset.label]);
    if (element.tagName === 'BUTTON') element.title = texts[element.dataset.label];
  }
  for (const element of root.querySelectorAll('[data-placeholder]')) {
    element.placeholder = texts[element.dataset.placeholder];
  }
}
