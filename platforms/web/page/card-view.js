import { post, randomId } from '/web/connection.js';
import { ask, el, plainlyVisible } from '/web/dom.js';
import { texts } from '/web/texts.js';

/**
 * An approval, a question or its outcome. `where` names the message that bears it; `serverNow` is the gateway's
 * clock, by which the countdown runs.
 */
export function renderCard(card, where, serverNow, onReply) {
  const footer = el('p', { class: 'card-foot' }, card.footer ?? '');
  const buttons = card.buttons.map((row) =>
    el('div', { class: 'buttons' }, ...row.map((button) => cardButton(button, where, onReply))),
  );
  const view = el(
    'section',
    { class: `card ${card.tone}`, 'aria-label': card.title },
    el('h3', {}, card.title),
    ...card.blocks.map((block) => blockMakers[block.kind](block)),
    ...buttons,
    footer,
  );
  if (card.expiresAt !== undefined && card.buttons.length > 0)
    countDown(view, footer, card.expiresAt, serverNow);
  return view;
}

const blockMakers = {
  text: ({ text }) => el('p', {}, ...plainlyVisible(text)),
  code: ({ text, marks }) =>
    el('pre', { class: 'command', tabindex: '0' }, el('code', {}, ...marked(text, marks ?? []))),
  facts: ({ facts }) =>
    el(
      'dl',
      {},
      ...facts.flatMap(({ label, text }) => [el('dt', {}, label), el('dd', {}, ...plainlyVisible(text))]),
    ),
};

function marked(text, marks) {
  const nodes = [];
  let at = 0;
  for (const { start, end } of [...marks].sort((left, right) => left.start - right.start)) {
    if (start < at) continue;
    nodes.push(
      ...plainlyVisible(text.slice(at, start)),
      el('mark', {}, ...plainlyVisible(text.slice(start, end))),
    );
    at = end;
  }
  return [...nodes, ...plainlyVisible(text.slice(at))];
}

function cardButton(button, where, onReply) {
  const view = el('button', { type: 'button', class: button.style }, button.label);
  view.addEventListener('click', async () => {
    const asks = button.confirm !== undefined || button.askInput !== undefined;
    const answer = asks ? await ask(button.confirm, button.askInput) : {};
    if (answer === null) return;
    const card = view.closest('.card');
    setDisabled(card, true);
    try {
      onReply(
        await post('/web/presses', { id: randomId(), ...where, buttonId: button.id, input: answer.input }),
      );
    } catch (error) {
      onReply({ text: error.message, alert: true });
    }
    // The outcome replaces the card; when none comes (the press was refused), the buttons work again.
    setTimeout(() => setDisabled(card, false), 1500);
  });
  return view;
}

function setDisabled(card, disabled) {
  for (const button of card.querySelectorAll('.buttons button')) {
    button.disabled = disabled || card.classList.contains('lapsed');
  }
}

function countDown(view, footer, expiresAt, serverNow) {
  const consequence = footer.textContent;
  const tick = () => {
    const seconds = Math.round((expiresAt - serverNow()) / 1000);
    if (seconds <= 0) {
      view.classList.add('lapsed');
      setDisabled(view, true);
      footer.textContent = texts.lapsed;
      return;
    }
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    const timer = el('span', { role: 'timer', class: 'timer' }, `${clock} ${texts.left}`);
    footer.replaceChildren(timer, consequence === '' ? '' : ` · ${consequence}`);
    setTimeout(() => {
      if (view.isConnected) tick();
    }, 1000);
  };
  tick();
}
