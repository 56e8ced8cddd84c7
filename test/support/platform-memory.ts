import type { PlatformMemory } from '../../platforms/platform.ts';

/** An adapter's memory that lives as long as the object: hand one to two adapters to play a restart. */
export function createPlatformMemory(): PlatformMemory {
  const values = new Map<string, string>();
  return {
    get: async (key) => parse(values.get(key)),
    set: async (key, value) => void values.set(key, JSON.stringify(value)),
    delete: async (key) => void values.delete(key),
    list: async (prefix) =>
      [...values]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, text]) => ({ key, value: parse(text) })),
  };
}

function parse(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}
