/** Removes `<think>…</think>` style reasoning from text that arrives in pieces, even when a tag is split over them. */
export interface ThinkFilter {
  /** The visible part of what is known so far; holds back what may yet turn out to be a tag. */
  push(piece: string): string;
  /** What was held back and is no tag after all. Reasoning that was never closed stays hidden. */
  end(): string;
}

const names = ['think', 'thinking', 'reasoning', 'thought', 'reasoning_scratchpad'];
const openTags = names.map((name) => `<${name}>`);
const longestTag = Math.max(...names.map((name) => name.length)) + '</>'.length;

export function createThinkFilter(): ThinkFilter {
  let held = '';
  /** The tag that ends the reasoning we are in, or null outside of any. */
  let closing: string | null = null;
  let started = false;

  function push(piece: string): string {
    // The common case: nothing held back, and nothing that could begin a tag.
    if (held === '' && closing === null && started && !piece.includes('<')) return piece;
    held += piece;
    let visible = '';
    for (;;) {
      const step = closing === null ? seekOpening() : seekClosing(closing);
      if (step === null) break;
      visible += step;
    }
    // The blank line between reasoning and answer belongs to neither.
    if (!started) visible = visible.trimStart();
    if (visible !== '') started = true;
    return visible;
  }

  /** Consumes held text outside of reasoning; null when nothing more can be decided. */
  function seekOpening(): string | null {
    if (held === '') return null;
    const at = held.indexOf('<');
    if (at === -1) return take(held.length);
    if (at > 0) return take(at);
    const lower = held.slice(0, longestTag).toLowerCase();
    const tag = openTags.find((candidate) => lower.startsWith(candidate));
    if (tag !== undefined) {
      closing = `</${tag.slice(1)}`;
      held = held.slice(tag.length);
      return '';
    }
    return openTags.some((candidate) => candidate.startsWith(lower)) ? null : take(1);
  }

  function seekClosing(tag: string): string | null {
    const at = held.toLowerCase().indexOf(tag);
    if (at === -1) {
      // Only a tail that may be the beginning of the tag is of interest.
      held = held.slice(-(tag.length - 1));
      return null;
    }
    held = held.slice(at + tag.length);
    closing = null;
    return '';
  }

  function take(length: number): string {
    const taken = held.slice(0, length);
    held = held.slice(length);
    return taken;
  }

  return {
    push,
    end: () => (closing === null ? take(held.length) : ''),
  };
}
