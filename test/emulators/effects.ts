/** What a text of the bot would do to its readers, as the platform reads it: whom it notifies, where it leads. */
export interface Effects {
  pings: readonly string[];
  links: readonly string[];
}

export function joinEffects(all: readonly Effects[]): Effects {
  return { pings: all.flatMap(({ pings }) => pings), links: all.flatMap(({ links }) => links) };
}
