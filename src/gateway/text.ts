/** The first `units` UTF-16 units of a text; never half a character. */
export function headOf(text: string, units: number): string {
  const head = text.slice(0, units);
  return head.length < text.length && /[\uD800-\uDBFF]$/.test(head) ? head.slice(0, -1) : head;
}
