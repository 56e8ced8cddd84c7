const lookEveryMs = 10;

/** Resolves with the first value of `look` that is not undefined; `describe` tells what there was instead. */
export async function untilFound<T>(
  what: string,
  look: () => T | undefined,
  describe: () => string,
  timeoutMs = 10_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (performance.now() > deadline)
      throw new Error(`waited ${timeoutMs} ms for ${what}; there is:\n${describe()}`);
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}
