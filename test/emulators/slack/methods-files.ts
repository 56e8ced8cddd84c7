import { z } from 'zod';
import { count, json, type Method, method, SlackFailure, ts } from './method.ts';
import { writableChannel } from './methods-chat.ts';
import { fileToWire, messageToWire } from './wire.ts';
import { addMessage, type SlackFile } from './world.ts';

export const fileMethods: Readonly<Record<string, Method>> = {
  'files.getUploadURLExternal': method(
    ['files:write'],
    {
      filename: z.string().min(1),
      length: count.or(z.string().regex(/^\d+$/).transform(Number)),
      alt_txt: z.string().optional(),
    },
    (args, { world, team, root }) => {
      const id = world.nextId('F');
      world.files.set(id, {
        id,
        teamId: team.id,
        name: args.filename,
        title: args.filename,
        mimetype: 'application/octet-stream',
        bytes: Buffer.alloc(0),
        user: team.botUserId,
        uploaded: false,
        external: false,
        shares: [],
      });
      return { upload_url: `${root}/upload/v1/${id}?length=${args.length}`, file_id: id };
    },
  ),
  'files.completeUploadExternal': method(
    ['files:write'],
    {
      files: json(z.array(z.strictObject({ id: z.string().min(1), title: z.string().optional() })).min(1)),
      channel_id: z.string().optional(),
      thread_ts: ts.optional(),
      initial_comment: z.string().max(40_000).optional(),
    },
    (args, context) => {
      const { world, team, root } = context;
      const files = args.files.map(({ id, title }) => {
        const file = world.files.get(id);
        if (file === undefined || file.teamId !== team.id || !file.uploaded)
          throw new SlackFailure('file_not_found');
        if (file.shares.length > 0) throw new SlackFailure('file_already_shared');
        file.title = title ?? file.title;
        return file;
      });
      if (args.channel_id !== undefined) {
        const channel = writableChannel(context, args.channel_id);
        const message = addMessage(world, {
          channel: channel.id,
          user: team.botUserId,
          botId: team.botId,
          subtype: 'file_share',
          text: args.initial_comment ?? '',
          ...(args.thread_ts === undefined ? {} : { threadTs: args.thread_ts }),
          files,
        });
        context.emit({
          ...messageToWire(message, world, root),
          channel: channel.id,
          channel_type: channel.type,
        });
      }
      return { files: files.map(({ id, title }) => ({ id, title })) };
    },
  ),
  'files.info': method(['files:read'], { file: z.string().min(1) }, (args, { world, team, root }) => {
    return { file: fileToWire(ofTeam(world.files.get(args.file), team.id), root) };
  }),
  'files.delete': method(['files:write'], { file: z.string().min(1) }, (args, { world, team }) => {
    const file = ofTeam(world.files.get(args.file), team.id);
    world.files.delete(file.id);
    for (const message of world.messages) {
      if (message.files.some(({ id }) => id === file.id) && message.botId === team.botId)
        message.deleted = true;
    }
    return {};
  }),
};

function ofTeam(file: SlackFile | undefined, teamId: string): SlackFile {
  if (file === undefined || file.teamId !== teamId) throw new SlackFailure('file_not_found');
  return file;
}
