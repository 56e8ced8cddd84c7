import { post } from '/web/connection.js';
import { byId, el } from '/web/dom.js';
import { texts } from '/web/texts.js';

const mostHints = 8;

/** The field where a person writes: grows with its text, hints at commands, takes files. */
export function createComposer({ onSay, onProblem }) {
  const words = byId('words');
  const hints = byId('hints');
  let commands = [];
  let files = [];
  let chosen = 0;

  function growToText() {
    words.style.height = 'auto';
    words.style.height = `${words.scrollHeight}px`;
  }

  function matching() {
    const typed = /^\/(\S*)$/.exec(words.value)?.[1];
    if (typed === undefined) return [];
    return commands.filter(({ name }) => name.startsWith(typed.toLowerCase())).slice(0, mostHints);
  }

  function showHints() {
    const found = matching();
    chosen = Math.min(chosen, Math.max(found.length - 1, 0));
    hints.hidden = found.length === 0;
    hints.replaceChildren(
      ...found.map((command, index) =>
        el(
          'div',
          {
            role: 'option',
            id: `hint-${index}`,
            'aria-selected': String(index === chosen),
            onclick: () => take(command),
          },
          el('b', {}, `/${command.name}`),
          el('span', {}, command.description),
        ),
      ),
    );
    if (hints.hidden) words.removeAttribute('aria-activedescendant');
    else words.setAttribute('aria-activedescendant', `hint-${chosen}`);
  }

  function take(command) {
    words.value = `/${command.name} `;
    words.focus();
    showHints();
  }

  function showFiles() {
    const list = byId('attached');
    list.hidden = files.length === 0;
    list.replaceChildren(
      ...files.map((file) =>
        el(
          'li',
          {},
          file.name,
          el(
            'button',
            {
              type: 'button',
              class: 'quiet',
              'aria-label': `${texts.detach}: ${file.name}`,
              onclick: () => {
                files = files.filter((each) => each !== file);
                showFiles();
              },
            },
            '×',
          ),
        ),
      ),
    );
  }

  async function upload(picked) {
    for (const file of picked) {
      try {
        const { id, name } = await post(`/web/files?name=${encodeURIComponent(file.name)}`, file);
        files = [...files, { id, name }];
        showFiles();
      } catch (error) {
        onProblem(texts.uploadFailed + error.message);
      }
    }
  }

  function send() {
    const text = words.value.trim();
    if (text === '' && files.length === 0) return;
    onSay(text, files);
    words.value = '';
    files = [];
    growToText();
    showHints();
    showFiles();
  }

  function onKey(event) {
    const found = matching();
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (found.length > 0 && move !== undefined) {
      event.preventDefault();
      chosen = (chosen + move + found.length) % found.length;
      return showHints();
    }
    const command = found[chosen];
    const completes = command !== undefined && words.value !== `/${command.name}`;
    if (completes && (event.key === 'Tab' || event.key === 'Enter')) {
      event.preventDefault();
      return take(command);
    }
    // On a touch screen Enter makes a line, as people expect there; composing (Japanese and others) is not sending.
    const isTouch = matchMedia('(pointer: coarse)').matches;
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || isTouch) return;
    event.preventDefault();
    send();
  }

  words.addEventListener('keydown', onKey);
  words.addEventListener('input', () => {
    growToText();
    showHints();
  });
  words.addEventListener('paste', (event) => {
    const pasted = [...event.clipboardData.files];
    if (pasted.length === 0) return;
    event.preventDefault();
    upload(pasted);
  });
  byId('composer').addEventListener('submit', (event) => {
    event.preventDefault();
    send();
  });
  byId('attach').addEventListener('click', () => byId('file').click());
  byId('file').addEventListener('change', async ({ target }) => {
    await upload([...target.files]);
    target.value = '';
    words.focus();
  });
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', (event) => {
    event.preventDefault();
    upload([...event.dataTransfer.files]);
  });

  return {
    setCommands(next) {
      commands = next;
      showHints();
    },
    focus: () => words.focus(),
  };
}
