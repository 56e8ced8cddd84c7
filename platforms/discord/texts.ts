/** What the adapter itself says to a person; everything else comes from the gateway. */
const texts = {
  en: {
    received: (command: string) => `✅ ${command}`,
    notHere: 'I am not available in this channel.',
    notStored: 'That could not be saved just now. Please try again in a moment.',
  },
  ru: {
    received: (command: string) => `✅ ${command}`,
    notHere: 'В этом канале я не отвечаю.',
    notStored: 'Сейчас не удалось это сохранить. Попробуйте ещё раз через минуту.',
  },
} as const;

export type Texts = (typeof texts)['en' | 'ru'];

export function textsFor(locale: string | undefined): Texts {
  return locale?.toLowerCase().startsWith('ru') === true ? texts.ru : texts.en;
}
