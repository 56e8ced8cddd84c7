import { isUnknownMethod } from './errors.ts';

export type OptionalMethod = 'sendRichMessage' | 'sendRichMessageDraft' | 'sendMessageDraft';

/**
 * Methods that this bot's API server turned out not to know (an older Bot API server, for instance), so that each is
 * tried once a start and not before every message.
 */
export interface Support {
  has(method: OptionalMethod): boolean;
  /** Takes note when `error` says that the method is unknown; true if so. */
  learn(method: OptionalMethod, error: unknown): boolean;
}

export function createSupport(): Support {
  const unknown = new Set<OptionalMethod>();
  return {
    has: (method) => !unknown.has(method),
    learn(method, error) {
      if (!isUnknownMethod(error)) return false;
      unknown.add(method);
      return true;
    },
  };
}
