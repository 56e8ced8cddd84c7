import { StringDecoder } from 'node:string_decoder';

/** Holds what arrives before somebody listens, so that no first line is lost. One listener. */
export function createBacklog() {
  const decoder = new StringDecoder('utf8');
  let waiting = '';
  let listener: ((text: string) => void) | null = null;

  function push(text: string): void {
    if (listener === null) waiting += text;
    else listener(text);
  }

  return {
    push,
    /** Bytes of UTF-8, cut anywhere. */
    pushBytes: (chunk: Uint8Array) => push(decoder.write(chunk)),
    listen(next: (text: string) => void): void {
      listener = next;
      if (waiting !== '') next(waiting);
      waiting = '';
    },
  };
}
