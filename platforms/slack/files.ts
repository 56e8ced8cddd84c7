import { createWriteStream, openAsBlob } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { type Clock, sleep } from '../../src/clock.ts';
import { errorMessage, GatewayError } from '../../src/errors.ts';
import type { Attachment, ChatAddress, PlatformMemory } from '../platform.ts';
import { toGatewayError } from './errors.ts';
import type { FilePayload } from './payloads.ts';
import { type SlackFile, slackFile } from './wire.ts';
import type { Workspace, Workspaces } from './workspaces.ts';

/** The largest file fetched and sent. Slack itself takes up to 1 GB. */
export const mostFileBytes = 100 * 1024 * 1024;

const transferTimeoutMs = 120_000;
/** Slack shares an uploaded file a moment after it says so. */
const shareTries = 5;
const shareDelayMs = 200;
const filePrefix = 'file:';
const uploadPrefix = 'upload:';

const uploadUrl = z.object({ upload_url: z.string(), file_id: z.string() });
const fileInfo = z.object({ file: slackFile });
const anything = z.object({});

export interface FileDeps {
  workspaces: Workspaces;
  memory: PlatformMemory;
  clock: Clock;
  apiRoot: string;
}

export interface Files {
  /** Sends a file; the id is the message's `ts`, or `file:<id>` while Slack has not told it. */
  send(
    chat: ChatAddress,
    payload: FilePayload,
    key: string,
    signal: AbortSignal,
  ): Promise<{ messageId: string }>;
  /** Whether the file of an earlier `send` with this key was shared. */
  findSent(chat: ChatAddress, key: string, signal: AbortSignal): Promise<string | null>;
  /** Removes a message known by its file only; false for any other id. */
  remove(chat: ChatAddress, messageId: string, signal: AbortSignal): Promise<boolean>;
  fetch(attachment: Attachment, path: string, signal: AbortSignal): Promise<void>;
}

/** Files in both directions. docs.slack.dev/messaging/working-with-files */
export function createFiles({ workspaces, memory, clock, apiRoot }: FileDeps): Files {
  const ownOrigin = new URL(apiRoot).origin;

  /** The bot token is shown to Slack alone, whatever URL a file comes with. */
  function isSlackUrl(url: URL): boolean {
    const slackHost =
      url.protocol === 'https:' && (url.hostname === 'slack.com' || url.hostname.endsWith('.slack.com'));
    return slackHost || url.origin === ownOrigin;
  }

  async function send(chat: ChatAddress, payload: FilePayload, key: string, signal: AbortSignal) {
    const { api } = workspaces.of(chat.workspaceId);
    const { size } = await stat(payload.path).catch((error: unknown) => {
      throw new GatewayError('platform_refused', `The file to send cannot be read: ${errorMessage(error)}`);
    });
    if (size > mostFileBytes) throw tooLarge(size);
    const slot = await api.call(
      uploadUrl,
      'files.getUploadURLExternal',
      { filename: payload.name, length: size },
      signal,
    );
    await upload(slot.upload_url, payload.path, signal);
    // From here on a lost answer can be asked for: the file's id says whether it was shared.
    await memory.set(`${uploadPrefix}${key}`, slot.file_id);
    const share = {
      files: [{ id: slot.file_id, title: payload.name }],
      channel_id: chat.chatId,
      ...(chat.threadId === undefined ? {} : { thread_ts: chat.threadId }),
      ...(payload.comment ? { initial_comment: payload.comment } : {}),
    };
    await api.send(anything, 'files.completeUploadExternal', share, signal);
    const messageId = await sharedAs(workspaces.of(chat.workspaceId), slot.file_id, chat.chatId, signal);
    await memory.delete(`${uploadPrefix}${key}`);
    return { messageId: messageId ?? `${filePrefix}${slot.file_id}` };
  }

  async function upload(target: string, path: string, signal: AbortSignal): Promise<void> {
    if (!isSlackUrl(new URL(target)))
      throw new GatewayError('platform_refused', 'Slack gave an upload URL that leads elsewhere');
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(transferTimeoutMs)]);
    const answer = await fetch(target, {
      method: 'POST',
      body: await openAsBlob(path),
      redirect: 'error',
      signal: deadline,
    }).catch((error: unknown) => {
      throw toGatewayError(error, 'file upload', 'repeatable');
    });
    if (answer.ok) return;
    throw new GatewayError('platform_unreachable', `Slack refused an upload with HTTP ${answer.status}`, {
      retryable: true,
    });
  }

  async function sharedAs({ api }: Workspace, fileId: string, channel: string, signal: AbortSignal) {
    for (let tries = 0; tries < shareTries; tries += 1) {
      if (tries > 0) await sleep(clock, shareDelayMs, signal);
      try {
        const { file } = await api.call(fileInfo, 'files.info', { file: fileId }, signal);
        const ts = shareTs(file, channel);
        if (ts !== undefined) return ts;
      } catch (error) {
        // The file is sent; without `files:read` its message just stays unknown.
        if (error instanceof GatewayError && error.code === 'platform_refused') return undefined;
        if (signal.aborted) throw error;
      }
    }
    return undefined;
  }

  async function fetchFile(attachment: Attachment, path: string, signal: AbortSignal): Promise<void> {
    const [teamId = '', fileId = ''] = attachment.ref.split(':');
    const workspace = workspaces.of(teamId);
    const { file } = await workspace.api.call(fileInfo, 'files.info', { file: fileId }, signal);
    const size = file.size ?? 0;
    if (size > mostFileBytes) throw tooLarge(size);
    const source = file.url_private_download ?? file.url_private;
    if (file.is_external === true || !source || !isSlackUrl(new URL(source))) {
      throw new GatewayError('platform_refused', 'The file lies outside Slack and is not fetched', {
        mend: 'Upload the file itself instead of linking to it.',
      });
    }
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(transferTimeoutMs)]);
    const answer = await fetch(source, {
      headers: { authorization: `Bearer ${workspace.token}` },
      redirect: 'manual',
      signal: deadline,
    }).catch((error: unknown) => {
      throw toGatewayError(error, 'file download', 'repeatable');
    });
    if (isSignInPage(answer, file)) throw signInPage();
    if (!answer.ok || answer.body === null) {
      throw new GatewayError('platform_unreachable', `Slack refused a download with HTTP ${answer.status}`, {
        retryable: true,
      });
    }
    await save(answer.body, path, deadline);
  }

  return {
    send,
    fetch: fetchFile,
    async findSent(chat, key, signal) {
      const fileId = z.string().safeParse(await memory.get(`${uploadPrefix}${key}`)).data;
      if (fileId === undefined) return null;
      const { api } = workspaces.of(chat.workspaceId);
      const { file } = await api.call(fileInfo, 'files.info', { file: fileId }, signal);
      const ts = shareTs(file, chat.chatId);
      if (ts === undefined) return null;
      await memory.delete(`${uploadPrefix}${key}`);
      return ts;
    },
    async remove(chat, messageId, signal) {
      if (!messageId.startsWith(filePrefix)) return false;
      const { api } = workspaces.of(chat.workspaceId);
      await api.call(anything, 'files.delete', { file: messageId.slice(filePrefix.length) }, signal);
      return true;
    },
  };
}

function shareTs({ shares }: SlackFile, channel: string): string | undefined {
  for (const byChannel of Object.values(shares ?? {})) {
    const ts = byChannel[channel]?.[0]?.ts;
    if (ts !== undefined) return ts;
  }
  return undefined;
}

/** A token without `files:read` gets Slack's sign-in page, with HTTP 200, in place of the file. */
function isSignInPage(answer: Response, file: SlackFile): boolean {
  if (answer.status >= 300 && answer.status < 400) return true;
  const isHtml = answer.headers.get('content-type')?.startsWith('text/html') === true;
  return isHtml && file.mimetype?.startsWith('text/html') !== true;
}

function signInPage(): GatewayError {
  return new GatewayError(
    'platform_refused',
    'Slack showed a sign-in page in place of the file: the app lacks files:read',
    {
      mend: 'Add files:read under OAuth & Permissions → Bot Token Scopes, then reinstall the app.',
    },
  );
}

function tooLarge(bytes: number): GatewayError {
  const limit = mostFileBytes / 1024 / 1024;
  return new GatewayError(
    'platform_refused',
    `The file has ${Math.ceil(bytes / 1024 / 1024)} MB; the limit is ${limit} MB`,
  );
}

async function save(body: ReadableStream, path: string, signal: AbortSignal): Promise<void> {
  let bytes = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > mostFileBytes) done(tooLarge(bytes));
      else done(null, chunk);
    },
  });
  try {
    await pipeline(Readable.from(body), limit, createWriteStream(path, { mode: 0o600, flags: 'wx' }), {
      signal,
    });
  } catch (error) {
    await rm(path, { force: true });
    throw toGatewayError(error, 'file download', 'repeatable');
  }
}
