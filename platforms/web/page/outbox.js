import { post } from '/web/connection.js';

const storageKey = 'hermes-outbox';
const retryMs = 2_000;

/**
 * Messages on their way. Each is kept in the browser until the gateway has stored it, and sent again under the same
 * id until then: a reload, a lost network or a gateway that restarts loses nothing and doubles nothing.
 */
export function createOutbox({ onChange, onRefused }) {
  let waiting = read();
  let busy = false;

  function keep(messages) {
    waiting = messages;
    localStorage.setItem(storageKey, JSON.stringify(waiting));
    onChange(waiting);
  }

  async function flush() {
    if (busy) return;
    busy = true;
    while (waiting.length > 0) {
      const [message] = waiting;
      try {
        await post('/web/messages', message);
      } catch (error) {
        if (!error.final) {
          keep(waiting.map((each) => ({ ...each, late: true })));
          await new Promise((resolve) => setTimeout(resolve, retryMs));
          continue;
        }
        onRefused(error.message, message);
      }
      keep(waiting.filter((each) => each.id !== message.id));
    }
    busy = false;
  }

  return {
    waiting: () => waiting,
    add(message) {
      keep([...waiting, message]);
      flush();
    },
    flush,
  };
}

function read() {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '[]');
  } catch {
    localStorage.removeItem(storageKey);
    return [];
  }
}
