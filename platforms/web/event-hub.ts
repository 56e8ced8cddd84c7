/** The open event streams of pages (Server-Sent Events), each following one chat and the list of all. */

export interface HubEvent {
  name: 'sync' | 'message' | 'tail' | 'chats' | 'activity' | 'ping';
  data: unknown;
  /** Revision of the chat after it: what a page that comes back names as the last that it saw. */
  revision?: number;
}

export interface EventHub {
  /** Opens a stream that begins with `first`. */
  open(chatId: string, first: HubEvent): Response;
  /** Sends to the pages that follow `chatId`, or to all when null. */
  publish(chatId: string | null, event: HubEvent): void;
  closeAll(): void;
}

interface Page {
  chatId: string;
  controller: ReadableStreamDefaultController<Uint8Array>;
}

/** A page this far behind is cut off: it comes back by itself and is told the present state, which is shorter. */
const mostBehindBytes = 4 * 1024 * 1024;
const mostPages = 64;
const reconnectMs = 1_000;

export function createEventHub(): EventHub {
  const pages = new Set<Page>();
  const encoder = new TextEncoder();

  function close(page: Page): void {
    if (pages.delete(page)) page.controller.close();
  }

  function open(chatId: string, first: HubEvent): Response {
    const head = encoder.encode(`retry: ${reconnectMs}\n${wire(first)}`);
    let page: Page | undefined;
    const body = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          page = { chatId, controller };
          pages.add(page);
          controller.enqueue(head);
        },
        cancel() {
          if (page !== undefined) pages.delete(page);
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: head.byteLength + mostBehindBytes }),
    );
    for (const oldest of pages) {
      if (pages.size <= mostPages) break;
      close(oldest);
    }
    return new Response(body, {
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      },
    });
  }

  return {
    open,
    publish(chatId, event) {
      const bytes = encoder.encode(wire(event));
      for (const page of pages) {
        if (chatId !== null && page.chatId !== chatId) continue;
        if ((page.controller.desiredSize ?? 0) < bytes.byteLength) close(page);
        else page.controller.enqueue(bytes);
      }
    },
    closeAll() {
      for (const page of pages) close(page);
    },
  };
}

function wire({ name, data, revision }: HubEvent): string {
  const id = revision === undefined ? '' : `id: ${revision}\n`;
  return `${id}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
