type Token = { kind: 'star' } | { kind: 'any' } | { kind: 'one'; test: (char: string) => boolean };

function tokens(glob: string): Token[] {
  const found: Token[] = [];
  const pattern = /\*+|\?|\[([!^]?)([^\]]{1,64})\]|\\?([\s\S])/g;
  for (const match of glob.matchAll(pattern)) {
    const [text, negated, list, literal] = match;
    if (text.startsWith('*')) found.push({ kind: 'star' });
    else if (text === '?') found.push({ kind: 'any' });
    else if (list !== undefined) {
      found.push({ kind: 'one', test: (char) => inList(list, char) !== (negated !== '') });
    } else found.push({ kind: 'one', test: (char) => char === literal });
  }
  return found;
}

function inList(list: string, char: string): boolean {
  for (let at = 0; at < list.length; at += 1) {
    const from = list[at] ?? '';
    const to = list[at + 1] === '-' && at + 2 < list.length ? list[at + 2] : undefined;
    if (to === undefined ? from === char : from <= char && char <= to) return true;
    if (to !== undefined) at += 2;
  }
  return false;
}

/** Whether a shell pattern (`*`, `?`, bracket lists) matches the whole text; `*` also crosses slashes. */
export function globMatches(glob: string, text: string): boolean {
  const wanted = tokens(glob);
  let at = 0;
  let token = 0;
  let star = -1;
  let retry = 0;
  while (at < text.length) {
    const next = wanted[token];
    if (next?.kind === 'star') {
      star = token;
      retry = at;
      token += 1;
    } else if (next !== undefined && (next.kind === 'any' || next.test(text[at] ?? ''))) {
      at += 1;
      token += 1;
    } else if (star >= 0) {
      retry += 1;
      at = retry;
      token = star + 1;
    } else return false;
  }
  return wanted.slice(token).every((rest) => rest.kind === 'star');
}

export function hasGlob(text: string): boolean {
  return /[*?]|\[[^\]]{1,64}\]/.test(text);
}
