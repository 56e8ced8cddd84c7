/**
 * Text of a model, a tool or a chat as a terminal may show it. Control signs could move the cursor, repaint what was
 * shown or write to the clipboard; direction marks could make a command read as another. Both become visible.
 */
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export function safeForTerminal(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(unsafe, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export interface Paint {
  dim(text: string): string;
  bold(text: string): string;
  marked(text: string): string;
}

/** Colours for a terminal, or none for a pipe and for people who set NO_COLOR (https://no-color.org). */
export function createPaint(colours: boolean): Paint {
  const wrap = (on: number, off: number) => (text: string) =>
    colours ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return { dim: wrap(2, 22), bold: wrap(1, 22), marked: wrap(7, 27) };
}
