import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../src/package-root.ts';
import type { PlatformRoute } from '../platform.ts';

/** The page's files by their address. Read when asked for: an edit shows on reload, and a start reads nothing. */
const assets: readonly (readonly [address: string, file: string, type: string])[] = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ...['theme.css', 'chat.css', 'messages.css', 'card.css'].map(
    (name) => [`/web/${name}`, `${name}`, 'text/css; charset=utf-8'] as const,
  ),
  ['/web/icon.svg', 'icon.svg', 'image/svg+xml'],
  ...[
    'chat.js',
    'card-view.js',
    'composer.js',
    'connection.js',
    'dom.js',
    'markdown.js',
    'message-view.js',
    'outbox.js',
    'sidebar.js',
    'texts.js',
  ].map((name) => [`/web/${name}`, `${name}`, 'text/javascript; charset=utf-8'] as const),
];

export function assetRoutes(): PlatformRoute[] {
  const own = assets.map(([path, file, type]) =>
    route(path, join(packageRoot, 'platforms/web/page', file), type),
  );
  // The Markdown lexer is the installed package itself, so the page and the gateway read Markdown alike.
  const vendor = route(
    '/web/marked.js',
    fileURLToPath(import.meta.resolve('marked')),
    'text/javascript; charset=utf-8',
  );
  return [...own, vendor];
}

function route(path: string, file: string, type: string): PlatformRoute {
  return {
    method: 'GET',
    path,
    async handle() {
      const bytes = await readFile(file);
      return new Response(new Uint8Array(bytes), {
        headers: { 'content-type': type, 'cache-control': 'no-cache' },
      });
    },
  };
}
