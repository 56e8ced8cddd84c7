import { createInterface } from 'node:readline';

export interface TerminalOptions {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream;
  onLine(line: string): void;
  onInterrupt(): void;
  /** The input ended: Ctrl-D, or a pipe that ran dry. */
  onEnd(): void;
}

/** Lines in and text out on one terminal, so that what is printed never lands in the line that a person types. */
export interface Terminal {
  listen(): void;
  write(text: string): void;
  /** Shows the prompt with what was typed so far; nothing on a pipe. */
  prompt(): void;
  close(): void;
}

const clearLine = '\r\u001b[K';

export function createTerminal({ input, output, onLine, onInterrupt, onEnd }: TerminalOptions): Terminal {
  const isTerminal = input.isTTY === true;
  let reader: ReturnType<typeof createInterface> | null = null;
  let isPrompting = false;

  return {
    listen() {
      reader = createInterface({ input, output, terminal: isTerminal, prompt: '› ' });
      reader.on('line', (line) => {
        isPrompting = false;
        onLine(line);
      });
      reader.on('SIGINT', onInterrupt);
      reader.on('close', () => {
        if (reader !== null) onEnd();
      });
    },
    write(text) {
      output.write(isPrompting ? clearLine + text : text);
      isPrompting = false;
    },
    prompt() {
      if (!isTerminal) return;
      isPrompting = true;
      reader?.prompt(true);
    },
    close() {
      const closing = reader;
      reader = null;
      closing?.close();
    },
  };
}
