import type { Api, ApiClientOptions } from 'grammy';

/** Types of grammY's client that are look-alikes of the platform's own: the border where one becomes the other. */
type GrammySignal = NonNullable<Parameters<Api['getMe']>[0]>;
type GrammyFetch = NonNullable<ApiClientOptions['fetch']>;

/** A signal of this process in the type that grammY's client asks for. */
export function own(signal: AbortSignal): GrammySignal {
  if (!isGrammySignal(signal)) throw new TypeError('not an AbortSignal');
  return signal;
}

function isGrammySignal(signal: unknown): signal is GrammySignal {
  return signal instanceof AbortSignal;
}

/** Node's own fetch, which keeps connections alive and costs less than the one that grammY brings along. */
export function ownFetch(): GrammyFetch {
  // An upload is a stream, which the standard lets be sent only when it is said to be one-way.
  const streaming = (url: string, init: RequestInit) => fetch(url, { ...init, duplex: 'half' });
  if (!isGrammyFetch(streaming)) throw new TypeError('fetch is not a function');
  return streaming;
}

function isGrammyFetch(value: unknown): value is GrammyFetch {
  return typeof value === 'function';
}
