import { createColumn } from '/column.js';
import { byId } from '/web/dom.js';

const columns = new Map();

/** Every event holds the whole state; columns draw what is new in it. */
function draw(views) {
  for (const view of views) {
    const known = columns.get(view.name) ?? createColumn(view.name);
    if (!columns.has(view.name)) {
      columns.set(view.name, known);
      byId('columns').append(known.element);
    }
    known.draw(view);
  }
}

const events = new EventSource('/events');
events.addEventListener('message', ({ data }) => draw(JSON.parse(data)));
events.addEventListener('open', () => {
  byId('link').textContent = '';
});
events.addEventListener('error', () => {
  byId('link').textContent = 'The playground has stopped.';
});
