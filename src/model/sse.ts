/** Longest event that is read; a provider that sends more without an end is broken. */
const maxEventUnits = 16 * 1024 * 1024;

/**
 * Reads server-sent events from text pushed in pieces and hands out the data of each. Synchronous on purpose: an
 * answer is hundreds of tiny events, and a promise for each is what a turn's time would go into.
 */
export function createSseReader(onData: (data: string) => void): { push(piece: string): void; end(): void } {
  let rest = '';
  let data: string | null = null;

  function line(text: string): void {
    if (text === '') {
      if (data !== null) onData(data);
      data = null;
    } else if (text.startsWith('data:')) {
      const value = text.slice(text.charAt(5) === ' ' ? 6 : 5);
      data = data === null ? value : `${data}\n${value}`;
    }
    // Comments, event names, ids and retry times say nothing that a chat completion needs.
  }

  return {
    push(piece) {
      const text = rest + piece;
      let from = 0;
      for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
        line(text.slice(from, text.charAt(to - 1) === '\r' && to > from ? to - 1 : to));
        from = to + 1;
      }
      rest = text.slice(from);
      if (rest.length > maxEventUnits) throw new Error('an event longer than 16 MB');
    },
    end() {
      line(rest.trimEnd());
      line('');
      rest = '';
    },
  };
}
