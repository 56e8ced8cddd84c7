/** Values of a request's fields, and of objects within them. */
export type Fields = Readonly<Record<string, unknown>>;

/** A file that came in a multipart request. */
export interface UploadedFile {
  name: string;
  mimeType: string;
  bytes: Buffer;
}

/** A refusal as the Bot API words it. */
export class ApiRefusal extends Error {
  readonly code: number;
  readonly parameters: Fields | undefined;
  constructor(code: number, description: string, parameters?: Fields) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

export function badRequest(why: string): ApiRefusal {
  return new ApiRefusal(400, `Bad Request: ${why}`);
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
