/** What a caller without the token sees: a form for people, JSON for programs. */

export const signInPath = '/sign-in';
export const signInStylePath = '/sign-in.css';

const notes = {
  first:
    'Paste the token that the gateway printed when it started. It is kept in the file <code>gateway.token</code> of its home folder.',
  wrong: 'That token does not fit. Take the one that the gateway printed when it started.',
} as const;

/** An answer that refuses, as text that says why. `message` must not need escaping beyond HTML's. */
export function refusal(request: Request, status: 401 | 403, message: string): Response {
  return wantsPage(request)
    ? html(status, `<h1>Not here</h1><p>${escapeHtml(message)}</p>`)
    : Response.json({ error: message }, { status });
}

export function signInPage(request: Request, reason: keyof typeof notes): Response {
  if (!wantsPage(request) && request.method === 'GET') {
    return Response.json({ error: 'Sign in first: open the URL that the gateway printed.' }, { status: 401 });
  }
  // A link from another site brings no SameSite=Strict cookie; once reloaded from here, the page has it.
  const again =
    request.method === 'GET' && request.headers.get('sec-fetch-site') === 'cross-site'
      ? '<meta http-equiv="refresh" content="0">'
      : '';
  return html(
    401,
    `<h1>Hermes Gateway</h1><p>${notes[reason]}</p>
<form method="post" action="${signInPath}">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>Open the chat</button>
</form>`,
    again,
  );
}

export const signInStyle = `
:root { color-scheme: light dark; --ink: #24262b; --dim: #666b75; --paper: #faf9f7; --line: #dddad4; --accent: #2f5d62; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e3; --dim: #9a9fa8; --paper: #17191c; --line: #33373d; --accent: #8fc1b5; } }
body { margin: 0; min-height: 100dvh; display: grid; place-items: center; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; }
main { width: min(22rem, calc(100vw - 3rem)); }
h1 { font-size: 1.35rem; margin: 0 0 .5rem; }
p, label { color: var(--dim); margin: 0 0 1.25rem; overflow-wrap: anywhere; }
form { display: grid; gap: .5rem; }
label { margin: 0; font-size: .9rem; }
input, button { font: inherit; border-radius: .6rem; padding: .65rem .8rem; border: 1px solid var(--line); }
input { background: transparent; color: inherit; }
button { margin-top: .5rem; background: var(--accent); border-color: var(--accent); color: var(--paper); font-weight: 600; cursor: pointer; }
`;

function wantsPage(request: Request): boolean {
  return (request.headers.get('accept') ?? '').includes('text/html');
}

function html(status: number, body: string, head = ''): Response {
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Hermes Gateway</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${signInStylePath}">${head}</head><body><main>${body}</main></body></html>`;
  return new Response(page, { status, headers: { 'content-type': 'text/html; charset=utf-8' } });
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign);
}
