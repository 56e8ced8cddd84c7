/** Holds what arrives before somebody listens, so that no first line is lost. One listener. */
export function createBacklog() {
  let waiting = '';
  let listener: ((text: string) => void) | null = null;
  return {
    push(text: string): void {
      if (listener === null) waiting += text;
      else listener(text);
    },
    listen(next: (text: string) => void): void {
      listener = next;
      if (waiting !== '') next(waiting);
      waiting = '';
    },
  };
}
