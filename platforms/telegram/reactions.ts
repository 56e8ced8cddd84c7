/** Those that the gateway uses, of those that Telegram takes. Bot API: ReactionTypeEmoji, emoji. */
const emoji = ['👀', '👍', '👎', '🔥', '🎉', '🤔', '😢'] as const;

export interface Reaction {
  type: 'emoji';
  emoji: (typeof emoji)[number];
}

/** Telegram has no ticks and crosses among its reactions. */
const substitutes: Readonly<Record<string, string>> = { '✅': '👍', '❌': '👎' };

/** The reaction as Telegram wants it: none takes the earlier one away. Null when Telegram has no such reaction. */
export function reactionOf(wanted: string | null): Reaction[] | null {
  if (wanted === null) return [];
  const meant = substitutes[wanted] ?? wanted;
  const known = emoji.find((one) => one === meant);
  return known === undefined ? null : [{ type: 'emoji', emoji: known }];
}
