import type { CliPayload, Line } from './payload.ts';
import type { Paint } from './terminal-text.ts';

export interface Screen {
  /** Shows a message for the first time. */
  show(id: string, payload: CliPayload): void;
  /** A terminal cannot take back what it printed: a text that grew goes on, what else changed is printed anew. */
  change(id: string, payload: CliPayload): void;
  /** A line of the program itself. */
  note(text: string): void;
  /** Whether a text is still growing in the last line. */
  readonly isOpen: boolean;
  /** Ends an open line, so that a prompt starts on one of its own. */
  endLine(): void;
}

/** The sign that the gateway puts behind a text that is not finished. */
const cursor = /\s*▉$/;

export function createScreen(write: (text: string) => void, paint: Paint): Screen {
  const printed = new Map<string, CliPayload>();
  /** The text message whose line is still open, and so can grow in place. */
  let openId: string | null = null;

  function endLine(): void {
    if (openId !== null) write('\n');
    openId = null;
  }

  function block(lines: string): void {
    endLine();
    write(`${lines}\n`);
  }

  function growText(id: string, before: string, text: string): void {
    const whole = text.replace(cursor, '');
    if (openId === id && whole.startsWith(before)) {
      write(whole.slice(before.length));
    } else if (whole !== before) {
      endLine();
      write(whole);
    }
    openId = id;
    printed.set(id, { kind: 'text', text: whole });
    if (whole === text) endLine();
  }

  function show(id: string, payload: CliPayload): void {
    if (payload.kind === 'text') {
      endLine();
      growText(id, '', payload.text);
      return;
    }
    printed.set(id, payload);
    if (payload.kind === 'progress') block(payload.lines.map((line) => paint.dim(line)).join('\n'));
    else if (payload.kind === 'file')
      block([`📎 ${payload.name}: ${payload.path}`, payload.caption].join('\n').trimEnd());
    else block(payload.lines.map((runs) => runs.map((run) => painted(run, paint)).join('')).join('\n'));
  }

  return {
    show,
    change(id, payload) {
      const before = printed.get(id);
      if (payload.kind === 'text') {
        growText(id, before?.kind === 'text' ? before.text : '', payload.text);
      } else if (payload.kind === 'progress') {
        const known = before?.kind === 'progress' ? before.lines : [];
        printed.set(id, payload);
        const fresh = payload.lines.filter((line, index) => line !== known[index]);
        if (fresh.length > 0) block(fresh.map((line) => paint.dim(line)).join('\n'));
      } else if (payload.kind === 'card' && payload.choices.length === 0) {
        // The outcome says it all in its title; the command stands above already.
        show(id, { ...payload, lines: payload.lines.slice(0, 1) });
      } else {
        show(id, payload);
      }
    },
    get isOpen() {
      return openId !== null;
    },
    note: (text) => block(paint.dim(text)),
    endLine,
  };
}

function painted({ style, text }: Line, paint: Paint): string {
  return style === 'plain' ? text : paint[style](text);
}
