/** How many requests were held against the platform's published description of its API. */
export interface Described {
  checked: number;
  /** Methods that the description does not know, each once. All of them where the description is not at hand. */
  unknown: readonly string[];
}

export function describedIn(methods: readonly string[], knows: (method: string) => boolean): Described {
  return {
    checked: methods.filter(knows).length,
    unknown: [...new Set(methods.filter((method) => !knows(method)))].sort(),
  };
}
