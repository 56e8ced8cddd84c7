import { askReason, renderEntry } from '/entry.js';
import { el } from '/web/dom.js';

const titles = { telegram: 'Telegram', discord: 'Discord', slack: 'Slack' };
const placeTitles = { dm: 'Private chat', team: { telegram: 'Topic', discord: 'Thread', slack: 'Thread' } };
/** Each platform has a folder of its own to delete; all of them share the machine. */
const folders = { telegram: 'build', discord: 'dist', slack: 'coverage' };
const ideas = (name) => [
  'help',
  `delete the folder ${folders[name]}`,
  'list files',
  'read notes.txt',
  '/status',
];

/** One platform: its two places, its two people, what is said there, and a field to say more. */
export function createColumn(name) {
  let where = 'dm';
  let view = { places: { dm: [], team: [] } };
  const drawn = { where: '', texts: [] };

  const log = el('ol', { class: 'log', role: 'log', 'aria-label': `${titles[name]} messages` });
  const notice = el('p', { class: 'notice', role: 'alert' });
  const words = el('textarea', {
    rows: '1',
    placeholder: 'Message',
    'aria-label': `Message on ${titles[name]}`,
  });
  const picker = el('input', { type: 'file', hidden: true });
  const who = el(
    'select',
    { 'aria-label': 'Who is speaking' },
    el('option', { value: 'ann' }, 'Ann'),
    el('option', { value: 'bob' }, 'Bob'),
  );
  const tabs = ['dm', 'team'].map((place) =>
    el(
      'button',
      { type: 'button', class: 'tab', 'data-place': place, onclick: () => show(place) },
      typeof placeTitles[place] === 'string' ? placeTitles[place] : placeTitles[place][name],
    ),
  );
  const chips = el(
    'div',
    { class: 'ideas' },
    ...ideas(name).map((idea) => el('button', { type: 'button', onclick: () => say(idea) }, idea)),
  );
  const form = el(
    'form',
    { onsubmit: (event) => submit(event) },
    who,
    el(
      'button',
      { type: 'button', class: 'attach', 'aria-label': 'Attach a file', onclick: () => picker.click() },
      '📎',
    ),
    words,
    el('button', { type: 'submit', class: 'send', 'aria-label': 'Send' }, '➤'),
    picker,
  );
  const element = el(
    'section',
    { class: `column ${name}`, 'aria-label': titles[name] },
    el('header', {}, el('h2', {}, titles[name]), el('nav', {}, ...tabs)),
    log,
    notice,
    chips,
    form,
  );

  async function act(deed) {
    notice.textContent = '';
    const response = await fetch('/acts', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ column: name, act: { who: who.value, where, ...deed } }),
    });
    if (!response.ok) notice.textContent = (await response.json()).error ?? 'That did not work.';
  }

  const say = (text) => act({ do: 'says', text });

  function submit(event) {
    event.preventDefault();
    const text = words.value.trim();
    words.value = '';
    if (text !== '') say(text);
  }
  words.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
  });
  picker.addEventListener('change', async () => {
    const [file] = picker.files;
    if (file === undefined) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    let binary = '';
    for (let at = 0; at < bytes.length; at += 32_768)
      binary += String.fromCharCode(...bytes.subarray(at, at + 32_768));
    act({ do: 'uploads', name: file.name, base64: btoa(binary), text: words.value.trim() });
    words.value = '';
    picker.value = '';
  });

  async function press(label) {
    const opensForm = label.includes('Deny') && name !== 'telegram' && who.value === 'ann';
    const reason = opensForm ? await askReason() : '';
    if (reason !== null) act({ do: 'presses', label, reason });
  }

  function show(place) {
    where = place;
    // A private chat is Ann's own.
    who.value = place === 'dm' ? 'ann' : who.value;
    who.disabled = place === 'dm';
    for (const tab of tabs) tab.setAttribute('aria-pressed', String(tab.dataset.place === place));
    redraw();
  }

  const handlers = {
    fileAddress: (id) => `/files?${new URLSearchParams({ column: name, where, id })}`,
    onPress: press,
  };

  /** Keeps the elements of what did not change, so that a selection and a focus live on. */
  function redraw() {
    const entries = view.places[where];
    if (drawn.where !== where) {
      log.replaceChildren();
      drawn.where = where;
      drawn.texts = [];
    }
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
    entries.forEach((entry, index) => {
      const text = JSON.stringify(entry);
      if (drawn.texts[index] === text) return;
      const fresh = renderEntry(entry, handlers);
      if (index < log.children.length) log.children[index].replaceWith(fresh);
      else log.append(fresh);
      drawn.texts[index] = text;
    });
    while (log.children.length > entries.length) log.lastChild.remove();
    drawn.texts.length = entries.length;
    if (atEnd) log.scrollTop = log.scrollHeight;
  }

  show('dm');
  return {
    element,
    draw(next) {
      view = next;
      redraw();
    },
  };
}
