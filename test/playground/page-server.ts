import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { secureHeaders } from '../../src/server/headers.ts';
import { answerJson, type HttpHost, readBytes, startHttp } from '../emulators/emulator.ts';
import { act, type Column } from './column.ts';

const lookEveryMs = 100;
const mostBytes = 8_000_000;
const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The page's files by their address; the web chat's own where they do the same. */
const files = new Map<string, URL>([
  ['/', new URL('./page/index.html', import.meta.url)],
  ...['playground.css', 'playground.js', 'column.js', 'entry.js'].map(
    (name) => [`/${name}`, new URL(`./page/${name}`, import.meta.url)] as const,
  ),
  ...['dom.js', 'markdown.js', 'texts.js', 'theme.css', 'icon.svg'].map(
    (name) => [`/web/${name}`, new URL(`../../platforms/web/page/${name}`, import.meta.url)] as const,
  ),
  ['/web/marked.js', new URL(import.meta.resolve('marked'))],
]);

const wish = z.strictObject({ column: z.string(), act });

/** Serves the page to this machine's own browser: no other host name, no other site's requests. */
export async function startPageServer(columns: readonly Column[], port = 0): Promise<HttpHost> {
  const columnOf = (name: string | null) => columns.find((column) => column.name === name);
  const state = () => JSON.stringify(columns.map((column) => column.view()));

  async function perform(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers['content-type'] !== 'application/json') return answerJson(response, 415, {});
    if (Number(request.headers['content-length']) > mostBytes)
      return answerJson(response, 413, { error: 'This file is too large for the playground.' });
    try {
      const asked = wish.parse(JSON.parse((await readBytes(request)).toString('utf8')));
      const column = columnOf(asked.column);
      if (column === undefined) return answerJson(response, 404, { error: 'No such platform.' });
      await column.perform(asked.act);
      answerJson(response, 200, {});
    } catch (error) {
      answerJson(response, 400, { error: error instanceof Error ? error.message : String(error) });
    }
  }

  /** Sends the whole state whenever it is another one; the page draws what differs. */
  function follow(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let sent = '';
    const look = () => {
      const now = state();
      if (now !== sent) response.write(`data: ${now}\n\n`);
      sent = now;
    };
    const looking = setInterval(look, lookEveryMs);
    response.once('close', () => clearInterval(looking));
    look();
  }

  function download({ searchParams: query }: URL, response: ServerResponse): void {
    const file = columnOf(query.get('column'))?.file(query.get('where') ?? '', query.get('id') ?? '') ?? null;
    if (file === null) {
      answerJson(response, 404, { error: 'No such file.' });
      return;
    }
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`,
    });
    response.end(file.bytes);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host = '', 'sec-fetch-site': site = 'none' } = request.headers;
    if (!/^(127\.0\.0\.1|localhost):\d+$/.test(host) || !['none', 'same-origin'].includes(String(site)))
      return answerJson(response, 403, { error: 'Open the printed address in a browser on this machine.' });
    const headers = new Response();
    secureHeaders(headers);
    for (const [name, value] of headers.headers) response.setHeader(name, value);
    const url = new URL(request.url ?? '/', 'http://playground');
    const file = files.get(url.pathname);
    if (request.method === 'POST' && url.pathname === '/acts') return perform(request, response);
    if (request.method !== 'GET') return answerJson(response, 405, {});
    if (url.pathname === '/events') return follow(response);
    if (url.pathname === '/files') return download(url, response);
    if (file === undefined) return answerJson(response, 404, { error: 'Not found.' });
    const extension = file.pathname.split('.').at(-1) ?? '';
    response.writeHead(200, { 'content-type': types[extension] ?? 'text/plain' });
    response.end(await readFile(fileURLToPath(file)));
  }

  return startHttp(serve, port);
}
