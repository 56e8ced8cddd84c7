/** What shall go wrong next, by Web API method (`*` for any). */
export interface Fault {
  /** Slack's own error code in an HTTP 200 answer. */
  error?: string;
  /** An HTTP status instead, such as 429 or 503. */
  status?: number;
  /** Seconds, for the `Retry-After` header of a 429. */
  retryAfter?: number;
  /** The scope that a `missing_scope` names. */
  needed?: string;
  /** Drop the connection: before the call takes effect, or after. */
  hangUp?: 'before' | 'after';
  /** An HTTP 200 answer that is not JSON, as a proxy in between may give. */
  page?: string;
  /** How many calls it hits; 1 when absent. */
  times?: number;
}

export interface Faults {
  add(method: string, fault: Fault): void;
  take(method: string): Fault | undefined;
  clear(): void;
}

export function createFaults(): Faults {
  const pending = new Map<string, { fault: Fault; left: number }[]>();
  return {
    add(method, fault) {
      const list = pending.get(method) ?? [];
      list.push({ fault, left: fault.times ?? 1 });
      pending.set(method, list);
    },
    take(method) {
      for (const key of [method, '*']) {
        const entry = pending.get(key)?.find((candidate) => candidate.left > 0);
        if (entry === undefined) continue;
        entry.left -= 1;
        return entry.fault;
      }
      return undefined;
    },
    clear: () => pending.clear(),
  };
}
