import type { SessionTools } from '../gateway/turn/session-tools.ts';

/** What to say of entries in a platform's list that name nothing; null when there are none. */
export function unknownToolsets(
  sessionTools: Pick<SessionTools, 'selectionFor'>,
  platform: string,
): string | null {
  const { unknown } = sessionTools.selectionFor(platform);
  if (unknown.length === 0) return null;
  return `The list of toolsets for ${platform} names ${unknown.join(', ')}: there is no such toolset, so nothing is added or taken away by it. hermes-gateway toolsets list shows them.`;
}
