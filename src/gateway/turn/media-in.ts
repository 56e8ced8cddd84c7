import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import type { Attachment, Platform } from '../../../platforms/platform.ts';
import { errorMessage } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { messagesFor } from '../../messages/messages.ts';
import type { InboxRow } from '../../store/inbox.ts';
import type { IntakeOptions } from './intake.ts';

const downloadTimeoutMs = 60_000;
/** Text files up to this size are put into the message itself. */
const inlineBytes = 20_000;
const textExtensions = /\.(txt|md|csv|log|json|xml|ya?ml|toml|ini|cfg|ts|js|py|sh)$/i;

export interface MediaInOptions {
  home: string;
  platforms: ReadonlyMap<string, Platform>;
  log: Log;
}

/** Fetches what came with messages into the cache and says in words where it lies; a failure is said, not hidden. */
export function createMediaIn({ home, platforms, log }: MediaInOptions): IntakeOptions['readMedia'] {
  return async (rows) => {
    const lines: string[] = [];
    for (const row of rows) {
      for (const attachment of row.event.attachments) lines.push(await describe(row, attachment));
    }
    return { text: lines.join('\n'), parts: [] };
  };

  async function describe(row: InboxRow, attachment: Attachment): Promise<string> {
    const { turn } = messagesFor(row.event.sender.locale);
    if (attachment.kind === 'sticker') return `[Sticker: ${attachment.description ?? ''}]`;
    const name = attachment.name ?? `${attachment.kind}${extensionOf(attachment)}`;
    try {
      const path = await fetchInto(row.platform, attachment, name);
      return `${turn.attachment(name, path)}${await inlineText(path)}`;
    } catch (error) {
      log.warn({ error: errorMessage(error), kind: attachment.kind }, 'an attachment could not be fetched');
      return turn.attachmentFailed(name, errorMessage(error));
    }
  }

  async function fetchInto(platformName: string, attachment: Attachment, name: string): Promise<string> {
    const platform = platforms.get(platformName);
    if (!platform) throw new Error(`${platformName} is not running`);
    const folder = join(home, 'cache', 'inbound');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // The random part keeps names apart; the rest is cleaned, so that no name leads out of the folder.
    const safe = basename(name)
      .replace(/[^\p{L}\p{N}._-]/gu, '_')
      .slice(-80);
    const path = join(folder, `${randomBytes(4).toString('hex')}-${safe}`);
    await platform.download(attachment, path, AbortSignal.timeout(downloadTimeoutMs));
    return path;
  }
}

function extensionOf(attachment: Attachment): string {
  const subtype = attachment.mimeType?.split('/')[1]?.replace(/[^a-z0-9]/g, '');
  const usual = {
    photo: 'jpg',
    voice: 'ogg',
    audio: 'mp3',
    video: 'mp4',
    document: 'bin',
    sticker: 'webp',
  } as const;
  return `.${subtype === 'jpeg' ? 'jpg' : (subtype ?? usual[attachment.kind])}`;
}

async function inlineText(path: string): Promise<string> {
  if (!textExtensions.test(extname(path))) return '';
  const content = await readFile(path, 'utf8');
  return content.length > inlineBytes || content.includes('\0') ? '' : `\n\`\`\`\n${content}\n\`\`\``;
}
