import { byId, el } from '/web/dom.js';
import { texts } from '/web/texts.js';

const storageKey = 'hermes-read';

/** The list of chats, and the drawer that it is on a phone. */
export function createSidebar({ onOpen, onNew }) {
  const list = byId('chats');
  let chats = [];
  let current = null;
  let lastRead = JSON.parse(localStorage.getItem(storageKey) ?? '{}');

  function show() {
    list.replaceChildren(
      ...chats.map((chat) => {
        const isCurrent = chat.id === current;
        const isNew = !isCurrent && chat.updatedAt > (lastRead[chat.id] ?? 0);
        const button = el(
          'button',
          {
            type: 'button',
            class: isNew ? 'new' : undefined,
            'aria-current': isCurrent ? 'page' : undefined,
          },
          chat.title || texts.newChat,
        );
        button.addEventListener('click', () => {
          setDrawer(false);
          onOpen(chat.id);
        });
        return el('li', {}, button);
      }),
    );
    const chat = chats.find(({ id }) => id === current);
    byId('title').textContent = chat?.title || texts.newChat;
    byId('remove-chat').hidden = chat === undefined;
  }

  function markRead() {
    const chat = chats.find(({ id }) => id === current);
    if (chat !== undefined) lastRead[chat.id] = chat.updatedAt;
    lastRead = Object.fromEntries(chats.map(({ id }) => [id, lastRead[id] ?? 0]));
    localStorage.setItem(storageKey, JSON.stringify(lastRead));
  }

  byId('menu').addEventListener('click', () => setDrawer(!document.body.classList.contains('drawer')));
  byId('veil').addEventListener('click', () => setDrawer(false));
  byId('new-chat').addEventListener('click', () => {
    setDrawer(false);
    onNew();
  });
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape') setDrawer(false);
  });

  return {
    setChats(next) {
      chats = next;
      markRead();
      show();
    },
    setCurrent(id) {
      current = id;
      markRead();
      show();
    },
  };
}

function setDrawer(open) {
  document.body.classList.toggle('drawer', open);
  byId('veil').hidden = !open;
  byId('menu').setAttribute('aria-expanded', String(open));
}
