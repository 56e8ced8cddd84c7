import { createComposer } from '/web/composer.js';
import { createConnection, post, randomId } from '/web/connection.js';
import { ask, byId, el } from '/web/dom.js';
import { renderMessage } from '/web/message-view.js';
import { createOutbox } from '/web/outbox.js';
import { createSidebar } from '/web/sidebar.js';
import { fillTexts, texts } from '/web/texts.js';

/** The page: what the gateway tells is kept in `messages`, and each change draws the one message that it is about. */

const log = byId('log');
const scroll = byId('scroll');
const messages = new Map();
let chatId = location.hash.slice(1) || localStorage.getItem('hermes-chat') || randomId();
let clockOffset = 0;
let isWorking = false;
const serverNow = () => Date.now() + clockOffset;

fillTexts(document);

const sidebar = createSidebar({ onOpen: openChat, onNew: () => openChat(randomId()) });
const composer = createComposer({ onSay: say, onProblem: warn });
const outbox = createOutbox({ onChange: showWaiting, onRefused: (reason) => warn(texts.tooLong + reason) });
const connection = createConnection({
  sync({ full, messages: changed, chats, commands, working, now }) {
    clockOffset = now - Date.now();
    if (full) clear();
    for (const message of changed) put(message);
    sidebar.setChats(chats);
    composer.setCommands(commands);
    setWorking(working);
    showWaiting();
    toLatest(full);
    outbox.flush();
  },
  message(message) {
    put(message);
    announce(message);
    showWaiting();
    toLatest();
  },
  tail({ id, revision, from, text }) {
    const known = messages.get(id);
    if (known?.body.kind !== 'text' || known.body.markdown.length < from) return connection.restart();
    const markdown = known.body.markdown.slice(0, from) + text;
    put({ ...known, revision, body: { ...known.body, markdown } });
    toLatest();
  },
  chats: sidebar.setChats,
  activity: ({ working }) => setWorking(working),
  state(state) {
    document.body.dataset.line = state;
    byId('link').textContent = { lost: texts.offline, 'signed-out': texts.signedOut }[state] ?? '';
  },
});

function openChat(id) {
  chatId = id;
  localStorage.setItem('hermes-chat', id);
  history.replaceState(null, '', `#${id}`);
  clear();
  sidebar.setCurrent(id);
  connection.follow(id);
  if (!matchMedia('(pointer: coarse)').matches) composer.focus();
}

function clear() {
  messages.clear();
  log.replaceChildren();
  showWaiting();
}

// ---------------------------------------------------------------- messages

/** Frames coalesce a fast stream: a message is drawn once a frame, with its latest text. */
const toDraw = new Set();

function put(message) {
  messages.set(message.id, message);
  if (toDraw.size === 0) requestAnimationFrame(draw);
  toDraw.add(message.id);
}

function draw() {
  const near = isNearLatest();
  for (const id of toDraw) {
    const message = messages.get(id);
    if (message === undefined) continue;
    const view = renderMessage(message, { chatId, serverNow, onReply });
    const old = log.querySelector(`[data-id="${CSS.escape(id)}"]`);
    if (old !== null) old.replaceWith(view);
    else log.insertBefore(view, log.querySelector('.waiting'));
  }
  toDraw.clear();
  showWelcome();
  if (near) scroll.scrollTop = scroll.scrollHeight;
}

function say(text, files) {
  const message = { id: randomId(), chatId, text, files, locale: navigator.language };
  outbox.add(message);
  toLatest(true);
}

/** What was written here and is not stored yet stands at the end, a little paler. */
function showWaiting() {
  const keys = new Set([...messages.values()].map(({ key }) => key));
  const mine = outbox.waiting().filter((each) => each.chatId === chatId && !keys.has(`said:${each.id}`));
  for (const old of log.querySelectorAll('.waiting')) old.remove();
  for (const { id, text, files, late } of mine) {
    const body = {
      kind: 'said',
      text: [text, ...files.map(({ name }) => name)].join('\n').trim(),
      files: [],
    };
    const view = renderMessage({ id, at: Date.now(), body, late }, {});
    view.classList.add('waiting');
    log.append(view);
  }
  showWelcome();
}

function showWelcome() {
  byId('welcome').hidden = log.childElementCount > 0 || toDraw.size > 0;
}

function onReply({ text, alert }) {
  if (alert) warn(text);
  else byId('speaker').textContent = text;
}

/** Says something that went wrong, seen for a while and read aloud. */
function warn(text) {
  byId('alarm').textContent = text;
  const toast = el('p', { class: 'toast' }, text);
  document.body.append(toast);
  setTimeout(() => toast.remove(), 6_000);
}

// ---------------------------------------------------------------- reading aloud

/** A card is read at once; an answer once it is whole, when the work ends. */
function announce({ body }) {
  if (body.kind === 'card' && body.card.buttons.length > 0)
    byId('alarm').textContent = texts.toStop + body.card.title;
  else if (body.kind === 'card') byId('speaker').textContent = body.card.title;
  else if (body.kind === 'text' && !isWorking) byId('speaker').textContent = body.markdown;
}

function setWorking(working) {
  if (isWorking && !working) {
    const last = [...messages.values()].findLast(({ body }) => body.kind === 'text');
    if (last !== undefined) byId('speaker').textContent = last.body.markdown;
  }
  isWorking = working;
  byId('working').hidden = !working;
  byId('stop').hidden = !working;
  toLatest();
}

// ---------------------------------------------------------------- scrolling

function isNearLatest() {
  return scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 120;
}

function toLatest(always = false) {
  if (!always && !isNearLatest()) return;
  requestAnimationFrame(() => {
    scroll.scrollTop = scroll.scrollHeight;
  });
}

scroll.addEventListener('scroll', () => {
  byId('latest').hidden = isNearLatest();
});
byId('latest').addEventListener('click', () => toLatest(true));
byId('stop').addEventListener('click', () => say('/stop', []));
byId('remove-chat').addEventListener('click', async () => {
  if ((await ask(texts.removeAsk)) === null) return;
  try {
    await post('/web/chats/remove', { chatId });
    openChat(randomId());
  } catch (error) {
    warn(error.message);
  }
});
for (const suggestion of texts.suggestions) {
  byId('suggestions').append(
    el('button', { type: 'button', onclick: () => say(suggestion, []) }, suggestion),
  );
}

openChat(chatId);
