/** Discord's ids hold their time: discord.com/developers/docs/reference#snowflakes */
const discordEpochMs = 1_420_070_400_000n;

export const isSnowflake = (text: string): boolean => /^\d{15,20}$/.test(text);

/** Milliseconds since the epoch. */
export const timeOfSnowflake = (id: string): number => Number((BigInt(id) >> 22n) + discordEpochMs);

/** The smallest id of that moment. */
export function snowflakeAt(atMs: number): string {
  const sinceEpochMs = BigInt(Math.floor(atMs)) - discordEpochMs;
  return (sinceEpochMs < 0n ? 0n : sinceEpochMs << 22n).toString();
}

export const isLater = (id: string, other: string): boolean => BigInt(id) > BigInt(other);

export const later = (id: string, other: string): string => (isLater(id, other) ? id : other);
