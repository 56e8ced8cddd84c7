import { describe, expect, it } from 'vitest';
import { createEventHub } from '../../../../platforms/web/event-hub.ts';

describe('the event hub', () => {
  const first = { name: 'sync', data: {} } as const;

  it('sends an event of a chat to the pages that follow it, and one for all to all', async () => {
    const hub = createEventHub();
    const a = hub.open('a', first);
    const b = hub.open('b', first);
    hub.publish('a', { name: 'message', data: 'for a', revision: 7 });
    hub.publish(null, { name: 'chats', data: 'for all' });
    hub.closeAll();
    const [textA, textB] = await Promise.all([a.text(), b.text()]);
    expect(textA).toContain('id: 7\nevent: message\ndata: "for a"\n\n');
    expect(textB).not.toContain('for a"');
    expect(textA).toContain('for all');
    expect(textB).toContain('for all');
  });

  it('cuts off a page that reads too slowly, so that it cannot eat the memory', async () => {
    const hub = createEventHub();
    const slow = hub.open('a', first);
    const block = 'x'.repeat(1024 * 1024);
    for (let sent = 0; sent < 8; sent += 1) hub.publish('a', { name: 'message', data: block });
    expect((await slow.text()).length).toBeLessThan(5 * 1024 * 1024);
  });

  it('forgets a page that went away', async () => {
    const hub = createEventHub();
    const gone = hub.open('a', first);
    await gone.body?.cancel();
    expect(() => hub.publish('a', { name: 'ping', data: {} })).not.toThrow();
  });
});
