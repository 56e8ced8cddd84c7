import type { IncomingMessage } from 'node:http';
import { readBytes } from '../emulator.ts';
import { badRequest, type Fields, isFields, type UploadedFile } from './wire.ts';

export interface ApiRequest {
  fields: Fields;
  files: ReadonlyMap<string, UploadedFile>;
}

/** Reads a call's fields from JSON or from multipart, where objects come as JSON texts. */
export async function readRequest(request: IncomingMessage): Promise<ApiRequest> {
  const body = await readBytes(request);
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('multipart/form-data')) return readMultipart(body, type);
  if (body.length === 0) return { fields: {}, files: new Map() };
  const fields: unknown = JSON.parse(body.toString('utf8'));
  if (!isFields(fields)) throw badRequest('the body is no object');
  return { fields, files: new Map() };
}

async function readMultipart(body: Buffer, type: string): Promise<ApiRequest> {
  const form = await new Response(new Uint8Array(quoted(body)), {
    headers: { 'content-type': type },
  }).formData();
  const fields: Record<string, unknown> = {};
  const files = new Map<string, UploadedFile>();
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = textFields.has(name) ? value : fromText(value);
    else
      files.set(name, {
        name: value.name,
        mimeType: value.type,
        bytes: Buffer.from(await value.arrayBuffer()),
      });
  }
  return { fields, files };
}

/** grammY leaves a file's name without quotes, and Telegram reads it up to the next semicolon. */
function quoted(body: Buffer): Buffer {
  const header = /(content-disposition:form-data;name="[^"]*";filename=)([^"\r\n;][^\r\n;]*)[^\r\n]*/g;
  const name = (bytes: string) => bytes.replaceAll('"', '%22');
  const text = body.toString('latin1').replace(header, (_whole, head, bytes) => `${head}"${name(bytes)}"`);
  return Buffer.from(text, 'latin1');
}

const textFields: ReadonlySet<string> = new Set(['caption', 'text', 'parse_mode']);

/** Numbers, booleans, objects and lists are told apart from text by how they read. */
function fromText(value: string): unknown {
  if (!/^(?:-?\d{1,15}|true|false|[[{][\s\S]*[\]}])$/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
