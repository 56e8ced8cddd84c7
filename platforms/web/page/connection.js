/** The page's line to the gateway: one event stream that mends itself, and requests. */

const silenceMs = 45_000;

/** Keeps the event stream of one chat open. `handlers` are called by event name, and `state` by how the line is. */
export function createConnection(handlers) {
  let chatId = null;
  let source = null;
  let seen = 0;
  let lastSign = 0;
  let retry = 0;

  function open() {
    clearTimeout(retry);
    source?.close();
    lastSign = Date.now();
    source = new EventSource(`/web/events?chat=${encodeURIComponent(chatId)}&since=${seen}`);
    for (const name of ['sync', 'message', 'tail', 'chats', 'activity', 'ping']) {
      source.addEventListener(name, (event) => {
        lastSign = Date.now();
        if (event.lastEventId !== '') seen = Number(event.lastEventId);
        if (name === 'sync') handlers.state('open');
        handlers[name]?.(JSON.parse(event.data));
      });
    }
    source.onerror = () => lost();
  }

  async function lost() {
    source?.close();
    handlers.state('lost');
    const signedOut = await fetch('/web/icon.svg', { cache: 'no-store' }).then(
      (response) => response.status === 401,
      () => false,
    );
    if (signedOut) return handlers.state('signed-out');
    clearTimeout(retry);
    retry = setTimeout(open, 1000);
  }

  // A phone that slept, or a network that changed, leaves a stream that looks open and brings nothing.
  const check = () => {
    if (document.visibilityState === 'visible' && Date.now() - lastSign > silenceMs) open();
  };
  setInterval(check, 5_000);
  document.addEventListener('visibilitychange', check);
  addEventListener('online', open);

  return {
    follow(id) {
      chatId = id;
      seen = 0;
      open();
    },
    /** Something does not fit together: ask for the whole chat anew. */
    restart() {
      seen = 0;
      open();
    },
  };
}

/** Rejects with an error whose `final` says that the same request will never be accepted. */
export async function post(path, body) {
  const isFile = body instanceof Blob;
  const response = await fetch(path, {
    method: 'POST',
    body: isFile ? body : JSON.stringify(body),
    headers: isFile ? {} : { 'content-type': 'application/json' },
  });
  const answer = await response.json();
  if (response.ok) return answer;
  throw Object.assign(new Error(answer.error), { final: [400, 413].includes(response.status) });
}

/** Works on plain HTTP too, where `crypto.randomUUID` is missing. */
export function randomId() {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
