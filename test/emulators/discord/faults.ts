/** What shall go wrong next on a route, such as `POST /channels/{channel_id}/messages`, or `*` for any. */
export interface Fault {
  /** HTTP status of the answer; 429 takes `retryAfter`. */
  status?: number;
  /** Discord's own error code in the answer's JSON. */
  code?: number;
  /** Seconds. */
  retryAfter?: number;
  /** Whether a 429 is for the whole bot instead of one bucket. */
  global?: boolean;
  /** Drop the connection: before the call takes effect, or after. */
  hangUp?: 'before' | 'after';
  /** How many calls it hits; 1 when absent. */
  times?: number;
}

export interface Faults {
  add(route: string, fault: Fault): void;
  take(route: string): Fault | undefined;
  clear(): void;
}

export function createFaults(): Faults {
  const pending: { route: string; fault: Fault; left: number }[] = [];
  return {
    add(route, fault) {
      pending.push({ route, fault, left: fault.times ?? 1 });
    },
    take(route) {
      const entry = pending.find(
        ({ route: wanted, left }) => left > 0 && (wanted === route || wanted === '*'),
      );
      if (entry === undefined) return undefined;
      entry.left -= 1;
      return entry.fault;
    },
    clear: () => void pending.splice(0),
  };
}
