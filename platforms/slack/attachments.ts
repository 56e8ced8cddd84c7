import type { Attachment, MediaKind } from '../platform.ts';
import type { SlackFile } from './wire.ts';

/** Files of a message. `ref` is `team:file`, asked for anew when fetched, so that it survives a restart. */
export function readAttachments(
  files: readonly SlackFile[] | null | undefined,
  teamId: string,
): Attachment[] {
  return (files ?? []).flatMap((file) => {
    if (file.mode === 'tombstone' || file.mode === 'hidden_by_limit') return [];
    const name = file.name ?? file.title;
    return [
      {
        kind: mediaKind(file),
        ref: `${teamId}:${file.id}`,
        ...(name ? { name } : {}),
        ...(file.mimetype ? { mimeType: file.mimetype } : {}),
        ...(typeof file.size === 'number' ? { bytes: file.size } : {}),
      },
    ];
  });
}

function mediaKind({ mimetype, subtype }: SlackFile): MediaKind {
  if (subtype === 'slack_audio') return 'voice';
  const type = mimetype?.split('/')[0];
  if (type === 'image') return 'photo';
  if (type === 'audio') return 'audio';
  if (type === 'video') return 'video';
  return 'document';
}
